"""Processes of the Django project under test."""

import json
import os
import subprocess
import sys

from tests.processes.child import PATIENCE
from tests.processes.start import ROOT
from tests.servers.postgres import PASSWORD, USER, server
from tests.servers.schemas import run

MANAGE = "tests/contrib/django/project/manage.py"
SHOP = "tests.contrib.django.project.shop"
SUITES = tuple(f"{SHOP}.checks_{name}" for name in ("configuration", "transactions", "tasks"))


def on_sqlite(folder):
    """A project whose database is a file."""
    engine = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "shop.db")}
    # A reader that became a writer would meet the writes of the scheduler in between.
    options = {"OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 60}}
    return Project(engine | options | {"TEST": {"NAME": str(folder / "test_shop.db")}})


async def on_postgres(name):
    """A project with a new database on the private server."""
    for database in (name, f"test_{name}"):
        await run(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')
    await run(f'CREATE DATABASE "{name}"')
    address = {"HOST": "127.0.0.1", "PORT": str(server().port), "USER": USER, "PASSWORD": PASSWORD}
    return Project({"ENGINE": "django.db.backends.postgresql", "NAME": name} | address)


class Project:
    """Runs `manage.py` on one database."""

    def __init__(self, database, python=sys.executable, **environment):
        self.database = database
        self.python = python
        self.environment = environment

    def process(self, *arguments, **options):
        settings = {"SHOP_DATABASE": json.dumps(self.database), "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [self.python, "-W", "error", MANAGE, *arguments],
            cwd=ROOT,
            env=os.environ | settings | self.environment,
            text=True,
            **options,
        )

    def manage(self, *arguments):
        """What a command prints, and its exit code."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with self.process(*arguments, **pipes) as process:
            try:
                printed, errors = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
        return printed, errors, process.returncode

    def check(self, *labels):
        """Run the project's own tests, or these; how many ran."""
        printed, errors, code = self.manage("test", *(labels or SUITES))
        assert code == 0, printed + errors
        found = [line for line in errors.splitlines() if line.startswith("Ran ")]
        return int(found[0].split()[1])
