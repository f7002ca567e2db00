"""Plans made while nothing was pending or running, while nothing was there, or of tables that were
never analysed, when there is much.

A connection keeps the plan of a statement, and what the server knows of tables that fill and empty
may be that they are empty. Nothing is analysed afterwards here, as within the first minute.
"""

import json

import asyncpg
import pytest
import pytest_asyncio

from tests.plans.postgres_full import JOB, NOW, RUN, examined, literal, nodes
from tests.plans.test_postgres import HOT, LEFT_OUT, LIMIT, RAN
from tests.servers.postgres import server
from tickwell.stores.postgres import PostgresStore

SCHEMA = "emptied"
MANY = 5_000
KEPT = f"""
INSERT INTO emptied.job (id, project, name, folded, queue, tags, auto_remove, version, document)
SELECT {JOB.format("n")}, 'p1', 'job-' || n, 'job-' || n, 'default', '{{}}', false, 1, '{{}}'
FROM generate_series(1, {MANY}) AS n;
INSERT INTO emptied.cursor (job, version, state, next_fire_time, after, runs, failures, nudged,
                            hard, keep, made, project)
SELECT {JOB.format("n")}, 1, 0, {NOW} - 1000 + n, {NOW}, 0, 0, false, 60000, 1000, 1, 'p1'
FROM generate_series(1, {MANY}) AS n;
INSERT INTO emptied.execution (id, project, job, job_version, kind, fire_time, run_at, queue,
                               ability, created_at, overlap, gate_limit)
SELECT {RUN.format("n", "01")}, 'p1', {JOB.format(f"n % {MANY} + 1")}, 1, 0, n, n, 'default',
       'call:work', 0, 4, 0
FROM generate_series({RAN[0]}, {RAN[-1]}) AS n;
"""
COMES_AND_GOES = f"""
INSERT INTO emptied.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                           expires_at, overlap)
SELECT {RUN.format("n", "01")}, {JOB.format("n")}, n % 2 * 2,
       CASE WHEN n % 4 = 1 THEN 'default' ELSE 'slow' END, 'call:work', 0, n, n, n,
       {NOW} - 1000 + n, {NOW} - 1000 + n, 4
FROM generate_series(1, {MANY}) AS n;
INSERT INTO emptied.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                           overlap, waits, gate, gate_limit)
SELECT {RUN.format("n", "03")}, {JOB.format("n")}, 1, 'default', 'call:work', 0, n, n, n, n, 4, 2,
       'gate-' || n % 50, 1
FROM generate_series(1, {MANY}) AS n;
INSERT INTO emptied.running (id, job, attempt, charged, lost, returned, run_at, rank, worker,
                             claim_id, deadline, holds_job)
SELECT {RUN.format("n", "01")}, {JOB.format("n % 1000")}, 1, 1, 0, 0, n, n, 'w' || n % 4, 'c' || n,
       {NOW} + n, false
FROM generate_series({RAN[0]}, {RAN[-1]} + 1500) AS n;
INSERT INTO emptied.record (kind, project, key, document, version)
SELECT CASE WHEN n % 2 = 0 THEN 'secret' ELSE 'uncounted_request' END, 'p1', 'key-' || n, '{{}}', 1
FROM generate_series(1, {MANY}) AS n;
INSERT INTO emptied.worker VALUES ('w0', 1, 1, true, ''), ('w1', 1, 1, false, '');
"""
#: So many that indexes of the queue differ in height, which the planner can tell without reading.
CROWD = f"""
INSERT INTO emptied.queue (id, job, state, queue, ability, kind, fire_time, run_at, rank, look_at,
                           overlap)
SELECT {RUN.format("n", "04")}, {JOB.format("n + 90000")}, 2, 'default', 'call:work', 0, n, n, n, n,
       4
FROM generate_series(1, 40000) AS n;
"""
GONE = ("queue", "running", "record", "worker")
ASKED = HOT | {
    "claimable": (["default"], ["call:work"], NOW * 2, NOW - 2000, LIMIT // 5, LEFT_OUT, [], [])
}
QUICK = "finish_quickly"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["idle", "new", "unread"])
async def session(request):
    """A connection on a busy store, with the plans of an idle one, a new one, or one never read."""
    connection = await asyncpg.connect(server().url, statement_cache_size=0)
    await connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    store = PostgresStore.from_url(f"{server().url}?schema={SCHEMA}")
    await store.open()
    await store.close()
    for table in ("job", "cursor", "execution", *GONE):
        await connection.execute(f"ALTER TABLE {SCHEMA}.{table} SET (autovacuum_enabled = false)")
    if request.param != "new":
        await connection.execute(KEPT + COMES_AND_GOES)
    if request.param == "unread":
        await connection.execute(CROWD)
    if request.param == "idle":
        await connection.execute("; ".join(f"DELETE FROM {SCHEMA}.{table}" for table in GONE))
        await connection.execute(f"ANALYZE {', '.join(f'{SCHEMA}.{table}' for table in GONE)}")
    settings = store.database._settings() | {"plan_cache_mode": "force_generic_plan"}
    for name, value in settings.items():
        await connection.execute(f"SET {name} = '{value}'")
    for name in ASKED:
        await connection.execute(f"PREPARE {name}_ AS {store.database.sql[name]}")
        await connection.execute(f"EXPLAIN EXECUTE {asked(name)}")
    if request.param != "unread":
        await connection.execute((KEPT if request.param == "new" else "") + COMES_AND_GOES)
    yield connection
    await connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    await connection.close()


def asked(name):
    given = ", ".join(map(literal, ASKED[name]))
    return f"{name}_({given})" if given else f"{name}_"


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_plan_made_in_ignorance_does_for_a_busy_store(session, name):
    taken_back = session.transaction()
    await taken_back.start()
    try:
        question = f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE {asked(name)}"
        plan = json.loads(await session.fetchval(question))[0]["Plan"]
    finally:
        await taken_back.rollback()
    assert examined(plan) <= 2 * LIMIT
    # Pairs that were formed to be thrown away; a claim's own payloads are looked up or not.
    assert sum(node.get("Rows Removed by Join Filter", 0) for node in nodes(plan)) <= LIMIT


@pytest.mark.asyncio(loop_scope="module")
async def test_ends_are_locked_by_their_keys_as_the_locked_way_does(session):
    plan = json.loads(await session.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE {asked(QUICK)}"))
    found = [node for node in nodes(plan[0]["Plan"]) if node.get("Relation Name") == "running"]
    scans = {node.get("Index Name") for node in found if "Scan" in node["Node Type"]}
    assert scans == {"running_pkey"}
    # A bitmap has no relation: it would be read in the order of pages.
    assert not any("Bitmap" in node["Node Type"] for node in nodes(plan[0]["Plan"]))
