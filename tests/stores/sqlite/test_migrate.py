"""Two processes that open a new file at once: one makes the tables, the other finds them."""

import sqlite3
from contextlib import closing
from random import Random

import pytest

from tickwell.stores.sqlite.migrate import STEPS, migrate
from tickwell.stores.sqlite.writer import Patience


def connect(path):
    return closing(sqlite3.connect(path, timeout=0, isolation_level=None))


@pytest.mark.parametrize("moment", [1, 2])
@pytest.mark.parametrize("shared", [False, True])
def test_another_process_makes_the_tables_between_two_statements(tmp_path, moment, shared):
    path, patience = tmp_path / "jobs.db", Patience(10, Random(1))
    if shared:
        with connect(path) as application:
            application.execute("CREATE TABLE orders (number INTEGER)")
    begun = []

    def let_the_other_be_first(statement):
        if statement.startswith("--"):
            return  # a part of the statement that was traced before
        begun.append(statement)
        if len(begun) == moment:
            migrate(theirs, path, patience, shared=shared)

    with connect(path) as ours, connect(path) as theirs:
        ours.set_trace_callback(let_the_other_be_first)
        migrate(ours, path, patience, shared=shared)
        ours.set_trace_callback(None)
        assert ours.execute("PRAGMA user_version").fetchone() == (len(STEPS),)
    assert len(begun) >= moment
