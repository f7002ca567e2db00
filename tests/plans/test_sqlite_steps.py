"""How much SQLite does for a call: as much with 100,000 jobs as with 1,000."""

import sqlite3
from collections.abc import Callable, Coroutine
from functools import partial

from tickwell.clock import NEVER
from tickwell.domain.execution import Kind, State
from tickwell.domain.planning import plan
from tickwell.domain.worker import Worker
from tickwell.ports.records import ClaimRequest, ExecutionFilter, JobFilter
from tickwell.stores.sqlite import SqliteStore

T0 = 1_767_225_600_000
LIMIT = 100
HORIZON = 2_000
#: Instructions of SQLite's machine between two looks.
GRAIN = 50
FEW, MANY = 1_000, 100_000

JOBS = """
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :jobs)
    INSERT INTO job SELECT i, printf('%036d', i), 'default', printf('job-%07d', i),
        printf('job-%07d', i), 'default', iif(i % 2, 'app', NULL), '[]', i % 10 = 0, NULL, 0, 1,
        printf('{"id":"%036d","name":"job-%07d","trigger":{"every":"1h"},'
               || '"target":{"call":{"handler":"work"}},"version":1}', i, i) FROM n
"""
#: The last hundred are due, the others come later.
CURSORS = """
    INSERT INTO cursor SELECT key, id, 1, 0, :now + iif(key > :jobs - 100, 0, 3600000 + key),
        :now - 1, 0, 0, 0, NULL, NULL, NULL, 300000, NULL, 1, 1000, project FROM job
"""
EXECUTIONS = """
    INSERT INTO execution (key, id, project, job, job_version, kind, fire_time, run_at, queue,
        ability, created_at, overlap, gate_limit, state, ended_at)
    SELECT key, printf('%012d', key), 'default', key, 1, 1, :now, :now, 'default', 'call:work',
        :now, 4, 0, iif(key % 2, NULL, 5), iif(key % 2, NULL, :now)
    FROM job WHERE key <= max(1000, :jobs / 5)
"""
#: Half of what was recorded is live; most of that waits, or is queued, with a better rank, for
#: workers that are not there.
QUEUE = """
    INSERT INTO queue (key, id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
        overlap)
    SELECT key, id, job, iif(key % 4 = 1, 0, 2), 'default',
        iif(key <= 900, 'call:work', 'call:other'), 1, :now, :now, :now - 50000 - key,
        :now + iif(key <= 900, 0, 3600000), 4
    FROM execution WHERE state IS NULL
"""


def build(path, jobs):
    """A file with so many jobs; indexes are made at the end, which is faster."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = off")
    connection.execute("BEGIN")
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    for statement in (JOBS, CURSORS, EXECUTIONS, QUEUE):
        connection.execute(statement, {"jobs": jobs, "now": T0})
    for _, text in indexes:
        connection.execute(text)
    connection.execute("COMMIT")
    connection.close()


class Steps:
    """A store whose work is counted."""

    def __init__(self, store):
        self.store = store
        self.count = 0

    async def start(self):
        for lane in (self.store.reader, self.store.writer):
            await lane.call(self._watch, self._watch)

    def _watch(self, session):
        session.connection.set_progress_handler(self._step, GRAIN)

    def _step(self):
        self.count += 1

    async def of(self, call):
        self.count = 0
        await call
        return self.count


def a_claim(number):
    return ClaimRequest(
        worker="w",
        claim_id=f"c{number}",
        now=T0,
        lead=0,
        limit=LIMIT,
        queues=("default",),
        abilities=frozenset({"call:work", "call:unknown"}),
    )


async def measure(path, jobs):
    """The work of each operation."""
    store = SqliteStore(path)
    await store.open()
    build(path, jobs)
    worker = Worker(
        id="w", host="h", pid=1, queues=("default",), abilities=(), capacity=1, started_at=T0
    )
    await store.beat(worker, T0)
    steps = Steps(store)
    await steps.start()
    calls: dict[str, Callable[[], Coroutine]] = {
        "fire_due": partial(
            store.fire_due, T0, HORIZON, LIMIT, lambda job, cursor: plan(job, cursor, T0, HORIZON)
        ),
        "promote": partial(store.promote, T0, HORIZON, LIMIT),
        "claim": partial(store.claim, a_claim(1)),
        "beat": partial(store.beat, worker, T0),
        "orphans": partial(store.orphans, T0, LIMIT),
        "next_wakeup": partial(store.next_wakeup, T0),
        "next_wakeup of a queue": partial(store.next_wakeup, T0, ["default"]),
        "lane_lengths": partial(store.lane_lengths, State.QUEUED, LIMIT),
        "lane_lengths of what is parked": partial(store.lane_lengths, State.PARKED, LIMIT),
        "list_jobs": partial(store.list_jobs, JobFilter(project="default"), None, LIMIT),
        "list_jobs by time": partial(
            store.list_jobs, JobFilter(project="default", fires_before=NEVER), None, LIMIT
        ),
        "list_jobs of an app": partial(store.list_jobs, JobFilter(app="app"), None, LIMIT),
        "list_jobs of a queue, by a part of the name": partial(
            store.list_jobs,
            JobFilter(project="default", queue="default", search="job-"),
            None,
            LIMIT,
        ),
        "list_executions of a queue and kind": partial(
            store.list_executions,
            ExecutionFilter(project="default", queue="default", kind=Kind.REQUEST),
            None,
            LIMIT,
        ),
        "list_executions": partial(
            store.list_executions, ExecutionFilter(project="default"), None, LIMIT
        ),
        "list_executions of a job": partial(
            store.list_executions, ExecutionFilter(job_id=f"{1:036}"), None, LIMIT
        ),
        "dead letters": partial(
            store.list_executions,
            ExecutionFilter(project="default", states=frozenset({State.DEAD})),
        ),
        "prune": partial(store.prune, T0, LIMIT),
    }
    done = {name: await steps.of(call()) for name, call in calls.items()}
    await store.close()
    return done


async def test_many_jobs_cost_no_more_than_a_few(tmp_path):
    await compare(tmp_path, MANY)


async def compare(tmp_path, count):
    few = await measure(tmp_path / "few.db", FEW)
    many = await measure(tmp_path / "many.db", count)
    assert few["fire_due"] > 10
    assert few["claim"] > 10
    # A deeper tree takes a few steps more for each row; a scan would take a hundred times more.
    assert {name: steps for name, steps in many.items() if steps > 2 * few[name] + 5} == {}
