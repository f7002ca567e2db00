"""The command line in this process: what it prints, and what it ends with."""

import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import typer.main

from tests.client.served import Served
from tickwell.cli.main import main

#: Typer builds the tree of all commands for each one that is run, in 85 ms; here it is built once.
BUILT = cache(typer.main.get_command)


@dataclass
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def rows(self):
        return [line.split("\t") for line in self.out.splitlines()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, as a person has it."""
    monkeypatch.chdir(tmp_path)
    for name in ("STORE", "PROJECT", "SERVER", "KEY"):
        monkeypatch.delenv(f"TICKWELL_{name}", raising=False)
    return tmp_path


@pytest.fixture
def any_task(monkeypatch):
    """The project `default` may send every Celery task."""
    monkeypatch.setenv("TICKWELL_CELERY_TASKS", "default:*")


@pytest.fixture(params=["store", "server"])
def either(request, folder, monkeypatch):
    """Who answers commands: the store itself, or a server on the same store, over HTTP."""
    if request.param == "store":
        yield request.param
        return
    settings = {"auth": False, "celery_tasks": ("default:*",)}
    with Served(f"sqlite:///{folder}/tickwell.db", **settings) as served:
        monkeypatch.setenv("TICKWELL_SERVER", served.url)
        yield request.param


@pytest.fixture
def tickwell(folder, monkeypatch, capsys):
    """Runs a command as `main` does, and says how it ended."""
    monkeypatch.setattr(typer.main, "get_command", BUILT)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["tickwell", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Ended(code, *capsys.readouterr())

    return run


@pytest.fixture
def store(folder):
    return Path(folder, "tickwell.db")
