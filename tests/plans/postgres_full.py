"""A PostgreSQL store filled by the server itself, and the plans of statements on it."""

import json
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import pytest_asyncio

from tests.servers.postgres import server
from tickwell.stores.postgres import PostgresStore

WAITING, QUEUED, RUNNING = 100_000, 50_000, 2_000
#: What stands before the gates of keys, and how many gates there are.
GATED, GATES = 50_000, 20_000
NOW = 1_800_000_000_000
SCHEMA = "plans"

# An id of the n-th job or execution; executions are in the order of their instants.
JOB = "('00000000-0000-7000-8000-' || lpad(to_hex({0}), 12, '0'))::uuid"
RUN = "('01a318{1}-0000-7000-8000-' || lpad(to_hex({0}), 12, '0'))::uuid"
FILL = f"""
INSERT INTO plans.job (id, project, name, folded, queue, tags, auto_remove, version, document)
SELECT {JOB.format("n")}, 'p' || n % 100, 'job-' || n, 'job-' || n, 'default', '{{{{}}}}', false, 1,
       '{{{{}}}}'
FROM generate_series(1, {{jobs}}) AS n;
INSERT INTO plans.cursor (job, version, state, next_fire_time, after, runs, failures, nudged, hard,
                          keep, made, prune_at, project)
SELECT {JOB.format("n")}, 1, 0, {NOW} - 1000 + n, {NOW}, 0, 0, false, 60000, 1000, 1, {NOW} * 2,
       'p' || n % 100
FROM generate_series(1, {{jobs}}) AS n;
INSERT INTO plans.execution (id, project, job, job_version, kind, fire_time, run_at, queue, ability,
                             created_at, overlap, gate_limit, state, rare, ended_at)
SELECT {RUN.format("n", "00")}, 'p' || n % 100, {JOB.format("n % {jobs}")}, 1, 0, n, n, 'default',
       'call:work', 0, 0, 0, CASE WHEN n % 50 = 0 THEN 6 ELSE 5 END,
       CASE WHEN n % 50 = 0 THEN 6 END, n
FROM generate_series(1, {{ended}}) AS n;
INSERT INTO plans.execution (id, project, job, job_version, kind, fire_time, run_at, queue, ability,
                             created_at, overlap, gate_limit)
SELECT {RUN.format("n", "01")}, 'p1', {JOB.format("n")}, 1, 0, n, n, 'default', 'call:work', 0, 4, 0
FROM generate_series(1, {WAITING + QUEUED + RUNNING}) AS n;
INSERT INTO plans.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                         expires_at, overlap)
SELECT {RUN.format("n", "01")}, {JOB.format("n")}, CASE WHEN n <= {WAITING} THEN 0 ELSE 2 END,
       CASE WHEN n % 2 = 0 THEN 'default' ELSE 'slow' END,
       CASE WHEN n % 3 = 0 THEN 'call:work' ELSE 'call:other' END, 0, n, {NOW} - 1000 + n,
       n, {NOW} - 1000 + n, {NOW} - 1000 + n, 4
FROM generate_series(1, {WAITING + QUEUED}) AS n;
INSERT INTO plans.gate SELECT 'gate-' || n, 1 FROM generate_series(1, {GATES}) AS n;
INSERT INTO plans.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                         overlap, waits, gate, gate_limit)
SELECT {RUN.format("n", "03")}, {JOB.format("n")}, 1, 'default', 'call:work', 0, n, n, n, n, 4, 2,
       'gate-' || n % 50, 1
FROM generate_series(1, {GATED}) AS n;
INSERT INTO plans.attempt (execution, number, outcome, ended_at)
SELECT {RUN.format("n", "00")}, 1, 1, n FROM generate_series(1, {GATED}) AS n;
INSERT INTO plans.skip (job, first, last, count, prune_at, reason)
SELECT {JOB.format("n")}, n, n, 1, {NOW}, 0 FROM generate_series(1, {GATED}) AS n;
INSERT INTO plans.running (id, job, attempt, charged, lost, returned, run_at, rank, worker,
                           claim_id, deadline, holds_job)
SELECT {RUN.format("n", "01")}, {JOB.format("n")}, 1, 1, 0, 0, n, n, 'w' || n % 4, 'c' || n,
       {NOW} + n, false
FROM generate_series({WAITING + QUEUED + 1}, {WAITING + QUEUED + RUNNING}) AS n;
INSERT INTO plans.record (kind, project, key, document, version)
SELECT CASE WHEN n <= {WAITING} THEN 'secret' ELSE 'uncounted_request' END, 'p1', 'key-' || n,
       '{{{{}}}}', 1
FROM generate_series(1, {WAITING + QUEUED}) AS n;
INSERT INTO plans.worker VALUES ('w0', 1, 1, true, ''), ('w1', 1, 1, false, ''),
                                ('w2', 1, 1, false, ''), ('w3', 1, 1, false, '');
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def full(request):
    """Filled once; what a test does is taken back."""
    connection = await asyncpg.connect(server().url, command_timeout=1500, statement_cache_size=0)
    await connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    store = PostgresStore.from_url(f"{server().url}?schema={SCHEMA}")
    await store.open()
    await store.close()
    indexes = await connection.fetch(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1"
        " AND indexdef NOT LIKE '%UNIQUE%'",
        SCHEMA,
    )
    # Plans are those of what was counted below, however long the tests take.
    for name in TABLES:
        await connection.execute(f"ALTER TABLE {SCHEMA}.{name} SET (autovacuum_enabled = false)")
    # Filled without them and made afterwards: in half the time.
    for name, _ in indexes:
        await connection.execute(f"DROP INDEX {SCHEMA}.{name}")
    fill = FILL.format(jobs=request.module.JOBS, ended=request.module.ENDED)
    await connection.execute(f"SET synchronous_commit = off; {fill}")
    for _, definition in indexes:
        await connection.execute(definition)
    await connection.execute(f"ANALYZE {', '.join(f'{SCHEMA}.{name}' for name in TABLES)}")
    yield connection, store.database
    await connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    await connection.close()


TABLES = (
    *("job", "cursor", "execution", "queue", "running", "worker", "record"),
    *("gate", "attempt", "skip"),
)


def runs(part, *numbers):
    return [str(UUID(f"01a318{part}-0000-7000-8000-{number:012x}")) for number in numbers]


def jobs(*numbers):
    return [str(UUID(f"00000000-0000-7000-8000-{number:012x}")) for number in numbers]


def literal(value):
    """As text, which is taken for whatever type the statement has there."""
    if isinstance(value, list):
        inside = ",".join("NULL" if one is None else f'"{one}"' for one in value)
        return f"'{{{inside}}}'"
    return "NULL" if value is None else f"'{value}'"


async def plan_of(full, name, *parameters):
    """The plan of a statement that was carried out and taken back."""
    return await plan_of_text(full, full[1].sql[name], parameters)


@asynccontextmanager
async def prepared(full, text):
    """The statement by the name `asked`, with the settings and the plan of one used often."""
    connection, database = full
    settings = database._settings() | {"plan_cache_mode": "force_generic_plan"}
    taken_back = connection.transaction()
    await taken_back.start()
    try:
        for setting, value in settings.items():
            await connection.execute(f"SET LOCAL {setting} = '{value}'")
        await connection.execute(f"PREPARE asked AS {text}")
        yield connection
    finally:
        await taken_back.rollback()
        await connection.execute("DEALLOCATE ALL")


async def plan_of_text(full, text, parameters, more="ANALYZE"):
    given = f"({', '.join(map(literal, parameters))})" if parameters else ""
    async with prepared(full, text) as connection:
        question = f"EXPLAIN (ANALYZE, {more}, FORMAT JSON) EXECUTE asked{given}"
        answer = await connection.fetchval(question)
    return json.loads(answer)[0]["Plan"]


async def plan_of_any(full, name):
    """The plan of a statement, whatever it is given; it is not carried out."""
    async with prepared(full, full[1].sql[name]) as connection:
        types = await connection.fetchval("SELECT parameter_types FROM pg_prepared_statements")
        given = f"({', '.join(['NULL'] * len(types))})" if types else ""
        answer = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE asked{given}")
    return json.loads(answer)[0]["Plan"]


def nodes(plan):
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def examined(plan):
    """The most rows that a scan looked at, those that it dropped included."""
    return max(
        (
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            for node in nodes(plan)
            if "Scan" in node["Node Type"]
        ),
        default=0,
    )


def walks(plan, *, limited=False):
    """Tables that are walked from end to end, or an index of them, with nothing to end the walk."""
    kind = plan["Node Type"]
    limited = limited or kind == "Limit"
    if kind == "Seq Scan" or (_is_of_index(kind) and "Index Cond" not in plan and not limited):
        yield plan.get("Relation Name") or plan["Index Name"]
    for part in plan.get("Plans", ()):
        yield from walks(part, limited=limited)


def _is_of_index(kind):
    return kind in {"Index Scan", "Index Only Scan", "Bitmap Index Scan"}


def scanned(plan):
    """Tables that are walked from end to end, by whatever means."""
    return {node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"}
