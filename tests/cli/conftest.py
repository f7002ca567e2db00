"""The command line in this process: what it prints, and what it ends with."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tickwell.cli.main import main


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
    monkeypatch.delenv("TICKWELL_STORE", raising=False)
    monkeypatch.delenv("TICKWELL_PROJECT", raising=False)
    return tmp_path


@pytest.fixture
def tickwell(folder, monkeypatch, capsys):
    """Runs a command as `main` does, and says how it ended."""

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
