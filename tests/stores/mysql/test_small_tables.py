"""Statements that lock rows by their ids lock no others, even where a table has few rows.

MariaDB walks over a small table from end to end for `id IN (...)`: it then locks, or waits for,
the rows of other workers. Two claims met in a deadlock that way, and the one that was repeated
found a row locked that nobody took.
"""

import re

import pytest

from tests.servers.mariadb_tables import run
from tickwell.domain.trigger import OnDemand
from tickwell.stores.mysql import MysqlStore
from tickwell.testing.contract.builders import T0, a_job, a_request

LOCKS = re.compile(r"\A(DELETE|UPDATE)|FOR UPDATE", re.MULTILINE)
LISTS = re.compile(r"JSON_TABLE\(%|(?<!NOT )IN %\(\d+\[\]\)s")


def locking():
    """Statements that lock what a list names."""
    sql = MysqlStore.from_url("mysql://tickwell@127.0.0.1/tickwell").database.sql
    return sorted(
        name
        for name, text in sql.items()
        if any(LOCKS.search(part) and LISTS.search(part) for part in text.split(";\n"))
    )


@pytest.fixture
async def ids(scene):
    """Twelve queued executions; ten of them are asked for, more than half of the table."""
    job = a_job(trigger=OnDemand())
    await scene.add(job)
    await scene.run(*(a_request(job, T0) for _ in range(12)))
    return [id for (id,) in await run("SELECT id FROM stores_queue ORDER BY id LIMIT 10")]


@pytest.mark.parametrize("name", locking())
async def test_rows_are_locked_by_their_keys(store, ids, name):
    text = store.database.sql[name]
    lists = {*re.findall(r"JSON_TABLE\(%\((\d+)\)s", text), *re.findall(r"%\((\d+)\[\]\)s", text)}
    count = max(map(int, re.findall(r"%\((\d+)", text)))
    asked = [ids if str(number) in lists else 1 for number in range(1, count + 1)]

    async def plans(session):
        parts = [part for part in text.split(";\n") if LOCKS.search(part) and LISTS.search(part)]
        return [row for part in parts for row in await session.query(f"EXPLAIN {part}", *asked)]

    walked = {
        row[2]
        for row in await store.database.write_one(plans)
        if row[3] in {"ALL", "index"} and "Table function" not in (row[9] or "")
    }
    assert walked - {"worker"} == set()
