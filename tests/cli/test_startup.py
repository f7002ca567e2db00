"""A command starts fast, because it loads little."""

import json
import subprocess
import sys
from typing import Any

import pytest
import typer

from tickwell.cli import application

#: Needed by some command, but never before it is known which.
HEAVY = {
    *("aiohttp", "fastapi", "starlette", "uvicorn", "uvloop", "jinja2", "structlog"),
    *("asyncpg", "psycopg", "asyncmy", "pymongo", "redis", "sqlite3", "cryptography", "argon2"),
    *("orjson", "joserfc", "yaml", "sqlalchemy", "django", "django_tasks", "asgiref"),
}
#: Typer reads the values of options with it, when there are some.
TYPERS = {"typer", "rich", "pydantic"}
#: Modules of ours at most: each class and each statement in one takes time at every start.
MOST = {"--version": 15, "jobs list": 365}
LOADED = "import json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"


def loaded(code):
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(ran.stdout.splitlines()[-1]))


HELP = """
import sys
sys.argv = ["tickwell", *{arguments!r}]
from tickwell.cli.main import main
try:
    main()
except SystemExit:
    pass
"""


def test_the_library_loads_no_driver_and_no_framework():
    assert loaded("import tickwell") & (HEAVY | TYPERS) == set()


@pytest.mark.parametrize("arguments", [["--help"], ["jobs", "add", "--help"], ["version"]])
def test_help_loads_no_driver_and_no_framework(arguments):
    assert loaded(HELP.format(arguments=arguments)) & HEAVY == set()


def test_a_command_on_sqlite_loads_no_other_driver(tmp_path):
    store = f"sqlite:///{tmp_path}/x.db"
    code = HELP.format(
        arguments=["jobs", "add", "x", "--every", "5m", "--call", "x", "--store", store]
    )
    assert loaded(code) & HEAVY == {"orjson", "sqlite3"}


def test_a_command_on_a_server_needs_none_of_its_libraries():
    code = HELP.format(arguments=["jobs", "list", "--server", "http://127.0.0.1:1"])
    assert loaded(code) & HEAVY == {"aiohttp"}


@pytest.mark.parametrize("command", MOST)
def test_a_command_loads_few_modules(command, tmp_path):
    """Counted, since a time depends on the machine; `./run bench start` has the times."""
    arguments = command.split()
    if command != "--version":
        store = f"sqlite:///{tmp_path}/x.db"
        subprocess.run(
            [sys.executable, "-m", "tickwell", "store", "migrate", "--store", store], check=True
        )
        arguments += ["--store", store]
    counted = "import sys; print(sum(name.startswith('tickwell') for name in sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", f"{HELP.format(arguments=arguments)}\n{counted}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(ran.stdout.splitlines()[-1]) <= MOST[command]


def test_a_command_of_another_group_is_still_suggested():
    """Although only the group that was asked for is loaded."""
    ran = subprocess.run(
        [sys.executable, "-m", "tickwell", "jobs", "doctor"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Did you mean: tickwell doctor?" in ran.stderr


def test_closed_standard_streams_are_no_error():
    """Of a daemon: a database would get the number of standard error, and the log go into it."""
    shown = "from tickwell.cli.main import main; main(['--version'])"
    for closed in ("2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"):
        command = ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, shown]
        assert subprocess.run(command, check=False, stdout=subprocess.PIPE).returncode == 0


@pytest.mark.parametrize("word", application.ROOMS)
def test_each_first_word_loads_its_command(word):
    """Else the application would know it only when all is loaded."""
    app: Any = typer.main.get_command(application.application([word]))
    assert word in app.commands
