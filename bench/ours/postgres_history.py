"""A schema with a past: `python -m bench.ours.postgres_history WHERE JOBS EXECUTIONS`."""

import random
import sys
from dataclasses import replace
from typing import Any

import asyncpg

from bench.ours import postgres_copies
from bench.ours.process import add_jobs, make_job, open_store, run
from bench.ours.register import TEMPLATES, some_day
from bench.served import address
from tickwell.clock import wall_millis
from tickwell.domain.policy import DAY

#: Days over which the executions are spread.
DAYS = 7
#: Of a hundred executions two died, and one was skipped. The nth is of job 7919 n, so that each
#: page shows many jobs, and each job has its part of every day.
EXECUTIONS = """
INSERT INTO {schema}.execution (id, job, fire_time, run_at, created_at, started_at, ended_at,
    job_version, gate_limit, attempt, charged, kind, overlap, state, rare, outcome, project, queue,
    ability, worker, reason, error)
SELECT (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-8000-8000-' || lpad(to_hex(n), 12, '0')
       )::uuid, job.id, at, at, at, at + 3, at + 403, 1, 0, 1, 1, 0, 0, state,
       nullif(state, 5), CASE state WHEN 5 THEN 0 WHEN 6 THEN 1 END, 'default', 'default',
       'call:noop', 'worker', CASE state WHEN 8 THEN 'overlap' END,
       CASE state WHEN 6 THEN 'HTTP 503: upstream ' || n % 40 || ' is gone' END
FROM (
    SELECT n, at, lpad(to_hex(at), 12, '0') AS hex,
           CASE WHEN n % 100 < 2 THEN 6 WHEN n % 100 < 3 THEN 8 ELSE 5 END AS state
    FROM generate_series(0, $1::bigint - 1) AS n,
         LATERAL (SELECT $2::bigint + n * $3::bigint / $1::bigint AS at) AS instant
) AS made
JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM {schema}.job) AS job
    ON job.place = n * 7919 % $4::bigint"""


async def fill(where: str, jobs: int, executions: int) -> dict[str, Any]:
    """Make the store and fill it, by the server itself."""
    url, schema = address(where)
    store = open_store(where)
    await store.open()
    now, seeded = wall_millis(), random.Random(0)
    made = (make_job(n, "noop", some_day(seeded), now) for n in range(TEMPLATES))
    teams = (replace(job, tags=(f"team-{n % 50}",)) for n, job in enumerate(made))
    await add_jobs(store, teams, now)
    await store.close()
    await postgres_copies.copy_jobs(url, schema, TEMPLATES, jobs)
    connection = await asyncpg.connect(url)
    await connection.execute("SET synchronous_commit = off")
    statement = EXECUTIONS.format(schema=schema)
    await connection.execute(statement, executions, now - DAYS * DAY, DAYS * DAY, jobs)
    await connection.close()
    return {"jobs": jobs, "executions": executions}


if __name__ == "__main__":
    run(fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
