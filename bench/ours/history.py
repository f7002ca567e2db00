"""A store with a past: `python -m bench.ours.history PATH JOBS EXECUTIONS`."""

import asyncio
import json
import random
import sqlite3
import sys
from pathlib import Path

from tickwell.clock import StoreClock
from tickwell.domain.document import job_from_document
from tickwell.domain.execution import Kind, NewExecution
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job, rank
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.tally import KIND, Tally, tally_key
from tickwell.ids import new_id
from tickwell.ports.records import Record
from tickwell.services.jobs.jobs import Jobs
from tickwell.stores.sqlite import SqliteStore

TRIGGERS: tuple[dict[str, object], ...] = (
    {"every": "5m"},
    {"every": "1h"},
    {"cron": "*/15 * * * *"},
    {"cron": "30 2 * * *", "tz": "Europe/Berlin"},
    {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"},
    {"cron": "0 6 1 * *"},
    {"on_demand": True},
)
#: Executions that wait for their time.
WAITING = 2_000
#: Of a hundred executions so many died, and so many were skipped.
SQL = """
INSERT INTO execution (id, project, job, job_version, kind, fire_time, run_at, queue, ability,
    created_at, overlap, gate_limit, state, attempt, charged, outcome, reason, error, worker,
    started_at, ended_at)
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :count - 1),
row (i, at, job, state) AS (
    SELECT i, :since + CAST(i * 1.0 * :span / :count AS INTEGER), 1 + i * 7919 % :jobs,
        CASE WHEN i % 100 < 2 THEN 6 WHEN i % 100 < 3 THEN 8 ELSE 5 END FROM n
)
SELECT substr(printf('%012x', at), 1, 8) || '-' || substr(printf('%012x', at), 9, 4)
        || printf('-8%03x-8%03x-%012x', i % 4096, i / 4096 % 4096, i),
    'default', job, 1, 0, at, at, 'default', 'http', at, 0, 0, state, 1, 1,
    CASE state WHEN 5 THEN 0 WHEN 6 THEN 1 END, CASE state WHEN 8 THEN 'overlap' END,
    CASE state WHEN 6 THEN 'HTTP 503: upstream ' || i % 40 || ' is gone' END,
    'worker', at + 3, at + 403
FROM row
"""


async def main(path: Path, jobs: int, executions: int) -> None:
    store, clock, seeded = SqliteStore(path), StoreClock(), random.Random(1)
    await store.open()
    sent = clock.monotonic()
    clock.sample(await store.ping(), sent, clock.monotonic())
    now = clock.now()
    added = await Jobs(store, clock, seeded, lambda: None).add_many(map(_job, range(jobs)))
    await _wait(store, added[0].job, now, seeded)
    for hour in range(now // HOUR - 7 * 24, now // HOUR):
        tally = Tally(succeeded=executions // 168, dead=executions // 8000)
        key, document = tally_key(hour, "bench"), tally.to_document()
        await store.put_record(
            Record(kind=KIND, project="default", key=key, document=document), now
        )
    await store.close()
    _write(path, {"count": executions, "jobs": jobs, "since": now - 7 * DAY, "span": 7 * DAY})


def _job(number: int) -> Job:
    document = {
        "id": "",
        "name": f"job-{number:05}-{('sync', 'report', 'mail', 'import')[number % 4]}",
        "trigger": TRIGGERS[number % len(TRIGGERS)],
        "target": {"http": {"url": f"https://93.184.215.14/hooks/{number}"}},
        "tags": [f"team-{number % 50}"],
        "payload": {"customer": number},
    }
    return job_from_document(document)


async def _wait(store: SqliteStore, job: Job, now: int, seeded: random.Random) -> None:
    at = now + DAY
    new = [
        NewExecution(
            id=new_id(now, seeded),
            job=job,
            kind=Kind.REQUEST,
            fire_time=at,
            run_at=at,
            rank=rank(at, 5),
            overlap=Overlap.ALLOW,
        )
        for _ in range(WAITING)
    ]
    for start in range(0, WAITING, 1000):
        await store.add_executions(new[start : start + 1000], now, 0)


def _write(path: Path, values: dict[str, int]) -> None:
    """By the database itself: a million rows through Python take minutes."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute(SQL, values)
        database.execute(
            "INSERT OR REPLACE INTO tally SELECT project, state, count(*) FROM execution"
            " WHERE state IS NOT NULL GROUP BY project, state"
        )
        database.execute(
            "UPDATE cursor SET made = 100, runs = 100, prune_at = :since + 90 * 86400000", values
        )
    database.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
    print(json.dumps({}))
