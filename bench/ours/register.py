"""Registers jobs that are not due for months: `python -m bench.ours.register WHERE COUNT`.

The first thousand through the store's own door; the others are copies of their rows, which takes
a fifth of the time.
"""

import random
import sqlite3
import sys
from datetime import UTC, datetime, timedelta

from bench.ours import mongo_copies, mysql_copies, postgres_copies, redis_copies
from bench.ours.process import add_jobs, make_job, open_store, run
from bench.served import address
from tickwell.clock import wall_millis
from tickwell.domain.trigger import Cron

TEMPLATES = 1_000

#: Copy n of a job: its own id and name, also in its document.
COPY_JOBS = """
    WITH RECURSIVE copy (n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM copy WHERE n < ?2 - 1)
    INSERT INTO job (key, id, project, name, folded, queue, app, tags, auto_remove, version,
        document)
    SELECT copy.n + 1, substr(id, 1, 24) || printf('%012x', copy.n), project, 'job-' || copy.n,
        'job-' || copy.n, queue, app, tags, auto_remove, version,
        replace(replace(document, id, substr(id, 1, 24) || printf('%012x', copy.n)),
                '"' || name || '"', '"job-' || copy.n || '"')
    FROM copy CROSS JOIN job ON job.key = 1 + copy.n % ?1"""
COPY_CURSORS = """
    INSERT INTO cursor (job, id, version, state, next_fire_time, after, runs, failures, nudged,
        hard, keep, project)
    SELECT job.key, job.id, job.version, cursor.state, next_fire_time, after, runs, failures,
        nudged, hard, keep, job.project
    FROM job CROSS JOIN cursor ON cursor.job = 1 + (job.key - 1) % ?1 WHERE job.key > ?1"""


async def register(where: str, count: int) -> dict[str, int]:
    """Make the store and fill it."""
    store = open_store(where)
    await store.open()
    now, seeded = wall_millis(), random.Random(0)
    first = range(min(count, TEMPLATES))
    await add_jobs(store, (make_job(n, "noop", some_day(seeded), now) for n in first), now)
    await store.close()
    if count > TEMPLATES:
        await _copy(where, count)
    return {"registered": count}


async def _copy(where: str, count: int) -> None:
    url, inside = address(where)
    match where.partition(":")[0]:
        case "postgresql":
            await postgres_copies.copy_jobs(url, inside, TEMPLATES, count)
        case "mysql":
            await mysql_copies.copy_jobs(url, inside, TEMPLATES, count)
        case "redis":
            await redis_copies.copy_jobs(url, inside, TEMPLATES, count)
        case "mongodb":
            await mongo_copies.copy_jobs(url, TEMPLATES, count)
        case _:
            _copy_in_file(where, count)


def _copy_in_file(path: str, count: int) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = off")
    database.execute("PRAGMA cache_size = -1000000")
    database.execute(COPY_JOBS, (TEMPLATES, count))
    database.execute(COPY_CURSORS, (TEMPLATES,))
    database.commit()
    # What an engine would find after a night: nothing left in the log.
    database.execute("PRAGMA wal_checkpoint(truncate)")
    database.close()


def some_day(seeded: random.Random) -> Cron:
    """Once a year, two to eight months from now."""
    day = datetime.now(UTC) + timedelta(days=seeded.randrange(60, 240))
    minute, hour = seeded.randrange(60), seeded.randrange(24)
    return Cron(f"{minute} {hour} {min(day.day, 28)} {day.month} *")


if __name__ == "__main__":
    run(register(sys.argv[1], int(sys.argv[2])))
