"""A Django project with Tickwell: its own tests, its commands, its workers."""

import asyncio
import json
import signal
import subprocess
from contextlib import contextmanager
from importlib.metadata import version

import pytest

from tests.contrib.django.project_processes import SHOP, on_postgres, on_sqlite
from tests.processes.child import PATIENCE

SETTINGS = "tests.contrib.django.project.settings"
#: Asked in a process of its own, once for each line that it reads: the run is another's.
ENQUEUE = f"""
import json, sys
from django.db import transaction
from {SHOP}.models import Order
from {SHOP}.tasks import add
from {SHOP}.jobs import confirm, confirm_alone
from tickwell.contrib.django import scheduler
for line in sys.stdin:
    number = int(line)
    with transaction.atomic():
        Order.objects.create(number=number)
        runs = [confirm.blocking.trigger(number), confirm_alone.blocking.trigger(number)]
        result = add.enqueue(1, second=2)
    states = [scheduler.blocking.wait(each.id).state for each in (*runs, result)]
    result.refresh()
    confirmed = Order.objects.get(number=number).confirmed
    print(json.dumps([*states, result.return_value, confirmed]), flush=True)
"""
#: In one process: what Django's own interfaces make of the command.
CALL = """
from django.core.management import call_command, load_command_class
call_command("tickwell", "version")
load_command_class("tickwell.contrib.django", "tickwell").print_help("manage.py", "tickwell")
"""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def project(request, tmp_path_factory):
    if request.param == "sqlite":
        return on_sqlite(tmp_path_factory.mktemp("project"))
    return asyncio.run(on_postgres("shop"))


def test_the_projects_own_tests_pass(project):
    assert project.check() == 32


@pytest.fixture(scope="module")
def migrated(project):
    _, errors, code = project.manage("migrate", "--run-syncdb")
    assert code == 0, errors
    return project


@contextmanager
def worker(project, *command):
    """A worker process of the project, which is asked to stop at the end."""
    with project.process("tickwell", *command, stderr=subprocess.PIPE) as process:
        try:
            yield
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0, said
    assert "tickwell runs: " in said


def test_a_worker_runs_what_another_process_asks_for_in_a_transaction(migrated):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with migrated.process("shell", "-v", "0", "-c", ENQUEUE, **pipes) as asking:
        try:
            for number, command in enumerate(
                [["worker"], ["serve", "--workers", "1", "--no-http"]]
            ):
                with worker(migrated, *command):
                    asking.stdin.write(f"{number}\n")
                    asking.stdin.flush()
                    found = json.loads(asking.stdout.readline())
                assert found == ["succeeded", "succeeded", "succeeded", 3, 2]
            asking.stdin.close()
            assert asking.wait(PATIENCE) == 0
        finally:
            asking.kill()


@pytest.mark.parametrize("project", ["sqlite"], indirect=True)
def test_commands_work_on_the_projects_store(migrated):
    printed, errors, code = migrated.manage("tickwell", "jobs", "list", "--json")
    assert code == 0, errors
    names = {job["name"].removeprefix(f"{SHOP}.tasks.") for job in json.loads(printed)["items"]}
    assert names == {
        *("confirm", "confirm_alone", "confirm_async", "tidy"),
        *("add", "add [default, priority 8]", "shout", "second_time", "fail", "mail"),
        *("unserialisable", "report", "refresh", "wait_for_end"),
    }
    printed, errors, code = migrated.manage("tickwell", "--settings", SETTINGS, "jobs", "show", "x")
    assert (printed, code) == ("", 3)
    assert errors.startswith("tickwell: no job 'x'")


def test_django_itself_can_call_the_command(tmp_path):
    printed, errors, code = on_sqlite(tmp_path).manage("shell", "-v", "0", "-c", CALL)
    assert code == 0, errors
    assert "Usage: manage.py tickwell" in printed
    assert printed.startswith(version("tickwell"))
