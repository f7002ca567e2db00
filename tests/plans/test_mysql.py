"""Hot statements on MariaDB look at what they take, not at what there is.

100,000 jobs, 100,000 executions in history, 50,000 that wait, 20,000 that are queued. Rows are
counted by the server itself, while a statement is carried out and taken back.
"""

import re
from uuid import UUID

import pytest
import pytest_asyncio

from tests.servers.mariadb_tables import run as ask
from tests.servers.mariadb_tables import tables, url
from tickwell.clock import NEVER
from tickwell.ports.records import ClaimRequest, ExecutionFilter, JobFilter
from tickwell.stores.mysql import MysqlStore
from tickwell.stores.mysql.claiming import pick
from tickwell.stores.mysql.listing import executions_query, jobs_query, lane_lengths
from tickwell.stores.sql.rows import codec

# The first test waits until all that is there: half a minute, more on a busy machine.
pytestmark = pytest.mark.timeout(600)

JOBS, ENDED, WAITING, QUEUED, RUNNING = 100_000, 100_000, 50_000, 20_000, 2_000
#: What stands before the gates of keys.
GATED = 20_000
NOW = 1_800_000_000_000
LIMIT = 500
PREFIX = "plans_"

# The id of the n-th job or execution; executions are in the order of their instants.
JOB = "CONCAT('00000000-0000-7000-8000-', LPAD(LOWER(HEX({0})), 12, '0'))"
RUN = "CONCAT('01a318{1}-0000-7000-8000-', LPAD(LOWER(HEX({0})), 12, '0'))"
NUMBERS = """
(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d + 100000 * f.d AS n
 FROM plans_digit AS a, plans_digit AS b, plans_digit AS c, plans_digit AS d, plans_digit AS e,
      plans_digit AS f) AS number WHERE n BETWEEN {0} AND {1}
"""
FILL = f"""
CREATE TABLE plans_digit (d INTEGER);
INSERT INTO plans_digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO plans_job (id, project, name, live_name, folded, queue, tags, auto_remove, version,
                       document)
SELECT {JOB.format("n")}, CONCAT('p', n MOD 100), CONCAT('job-', n), CONCAT('job-', n),
       CONCAT('job-', n), 'default', '[]', FALSE, 1, '{{}}' FROM {NUMBERS.format(1, JOBS)};
INSERT INTO plans_cursor (job, version, state, next_fire_time, after, runs, failures, nudged, hard,
                          keep, made, prune_at, project)
SELECT {JOB.format("n")}, 1, 0, {NOW} - 1000 + n, {NOW}, 0, 0, FALSE, 60000, 1000, 1, {NOW} * 2,
       CONCAT('p', n MOD 100)
FROM {NUMBERS.format(1, JOBS)};
INSERT INTO plans_execution (id, project, job, job_version, kind, fire_time, run_at, queue, ability,
                             created_at, overlap, gate_limit, state, rare, ended_at)
SELECT {RUN.format("n", "00")}, CONCAT('p', n MOD 100), {JOB.format(f"n MOD {JOBS}")}, 1, 0, n, n,
       'default', 'call:work', 0, 0, 0, IF(n MOD 50 = 0, 6, 5), IF(n MOD 50 = 0, 6, NULL), n
FROM {NUMBERS.format(1, ENDED)};
INSERT INTO plans_execution (id, project, job, job_version, kind, fire_time, run_at, queue, ability,
                             created_at, overlap, gate_limit)
SELECT {RUN.format("n", "01")}, 'p1', {JOB.format("n")}, 1, 0, n, n, 'default', 'call:work', 0, 4, 0
FROM {NUMBERS.format(1, WAITING + QUEUED + RUNNING)};
INSERT INTO plans_queue (id, job, state, queue, ability, kind, fire_time, run_at, `rank`, look_at,
                         expires_at, overlap)
SELECT {RUN.format("n", "01")}, {JOB.format("n")}, IF(n <= {WAITING}, 0, 2),
       IF(n MOD 2 = 0, 'default', 'slow'), IF(n MOD 3 = 0, 'call:work', 'call:other'), 0, n,
       {NOW} - 1000 + n, n, {NOW} - 1000 + n, {NOW} - 1000 + n, 4
FROM {NUMBERS.format(1, WAITING + QUEUED)};
INSERT INTO plans_queue (id, job, state, queue, ability, kind, fire_time, run_at, `rank`, look_at,
                         overlap, waits, gate, gate_limit)
SELECT {RUN.format("n", "03")}, {JOB.format("n")}, 1, 'default', 'call:work', 0, n, n, n, n, 4, 2,
       CONCAT('gate-', n MOD 50), 1 FROM {NUMBERS.format(1, GATED)};
INSERT INTO plans_gate SELECT CONCAT('gate-', n), 1 FROM {NUMBERS.format(1, GATED)};
INSERT INTO plans_attempt (execution, number, outcome, ended_at)
SELECT {RUN.format("n", "00")}, 1, 1, n FROM {NUMBERS.format(1, GATED)};
INSERT INTO plans_skip (job, first, last, count, prune_at, reason)
SELECT {JOB.format("n")}, n, n, 1, {NOW}, 0 FROM {NUMBERS.format(1, GATED)};
INSERT INTO plans_running (id, job, attempt, charged, lost, returned, run_at, `rank`, worker,
                           claim_id, deadline, holds_job)
SELECT {RUN.format("n", "01")}, {JOB.format("n")}, 1, 1, 0, 0, n, n, CONCAT('w', n MOD 4),
       CONCAT('c', n), {NOW} + n, FALSE
FROM {NUMBERS.format(WAITING + QUEUED + 1, WAITING + QUEUED + RUNNING)};
INSERT INTO plans_record (kind, project, name, document, version)
SELECT 'secret', 'p1', CONCAT('key-', n), '{{}}', 1 FROM {NUMBERS.format(1, WAITING)};
INSERT INTO plans_worker VALUES ('w0', 1, 1, TRUE, ''), ('w1', 1, 1, FALSE, ''),
                                ('w2', 1, 1, FALSE, ''), ('w3', 1, 1, FALSE, '');
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def full():
    """Filled once; what a test does is taken back."""
    await drop()
    store = MysqlStore.from_url(url(PREFIX))
    await store.open()
    await ask(FILL)
    # At once, instead of when the server gets around to it.
    await ask(f"ANALYZE TABLE {', '.join(await tables(PREFIX))}")
    yield store
    await store.close()
    await drop()


async def drop():
    names = [*await tables(PREFIX), f"{PREFIX}meta"]
    await ask(f"DROP TABLE IF EXISTS {', '.join(names)}")


def runs(part, *numbers):
    return [str(UUID(f"01a318{part}-0000-7000-8000-{number:012x}")) for number in numbers]


def jobs(*numbers):
    return [str(UUID(f"00000000-0000-7000-8000-{number:012x}")) for number in numbers]


class TakenBack(Exception):
    """What was done was done to be looked at."""


async def examined(store, work):
    """Rows that the server read while this was done, by any means."""
    found = {}

    async def looked_at(session):
        before = await counted(session)
        await work(session)
        after = await counted(session)
        found["rows"] = sum(after[name] - before[name] for name in after)
        raise TakenBack

    with pytest.raises(TakenBack):
        await store.database.write(looked_at)
    return found["rows"]


async def counted(session):
    rows, _ = await session.send("SHOW SESSION STATUS LIKE 'Handler_read%'")
    # To ask is to read as well: from a table of the server's own.
    return {name: int(count) for name, count in rows if name != "Handler_read_rnd_next"}


SOME = range(1, LIMIT + 1)
RAN = range(WAITING + QUEUED + 1, WAITING + QUEUED + LIMIT + 1)
REPORTS = [(id, 1, 1, 5, 0, None, 1, 1, 1, NOW, NOW, None, None) for id in runs("01", *RAN)]
#: Jobs that this process cannot read: never many.
LEFT_OUT = jobs(1, 2)
HOT = {
    "due": (NOW, LEFT_OUT, LIMIT),
    "is_due": (NOW, LEFT_OUT),
    "due_projects": (NOW, LIMIT),
    "due_of_project": (NOW, LEFT_OUT, LIMIT, "p1"),
    "documents": (jobs(*SOME),),
    "move_cursor": (
        [(0, NOW, NOW, NOW, False, None, None, None, 1, NOW, job) for job in jobs(*SOME)],
    ),
    "pick_lane": ("w1", NOW - 2000, LIMIT, "default", "call:work", NOW * 2, LEFT_OUT),
    "start": (runs("01", *range(WAITING + 1, WAITING + LIMIT)), "w1", "c", NOW, []),
    "standing_reports": (False, [report[:3] for report in REPORTS]),
    "finish": (REPORTS, runs("01", *RAN)),
    "lock_jobs": (jobs(*SOME),),
    "gates_of_jobs": (jobs(*SOME),),
    "running_rows": (runs("01", *RAN),),
    "pass_job_on": (jobs(*SOME),),
    "best_before_gates": ("gate-7", LIMIT),
    "move_keyed": ([(2, 0, True, True, id) for id in runs("03", *SOME)],),
    "gates_behind": (jobs(*SOME),),
    "existing": (runs("01", *SOME),),
    "promote": (NOW, NEVER, LEFT_OUT, LIMIT),
    "queue_free": (runs("01", *SOME),),
    "expired": (NOW, LEFT_OUT, LIMIT),
    "still_waiting": (runs("01", *SOME), NOW),
    "owned": ("w1",),
    "next_queue": ("a",),
    "best_of_lane": (NOW * 2, NOW - 2000, LIMIT, LEFT_OUT),
    "jobs_to_prune": (NOW, LIMIT, -1, jobs(0)[0]),
    "past_age": (jobs(7)[0], NOW, 1, 1, LIMIT),
    "past_count": (jobs(7)[0], LIMIT, 0),
    "requests": ([(job, "key") for job in jobs(*SOME)],),
    "count_made": ([(1, None, NOW, job) for job in jobs(*SOME)],),
    "orphans": (NOW, LEFT_OUT, LIMIT),
    "next_run": (NEVER, NOW),
    "expired_records": (NOW, LIMIT),
    "old_skips": (NOW, LIMIT),
    "list_records": ("secret", "p1", "key-1", "key-2", NOW, LIMIT),
}
#: For each row of the limit: itself, and what belongs to it elsewhere. A few at least.
EACH = 5
MORE = {"orphans": 6 * RUNNING, "owned": RUNNING}


@pytest.mark.parametrize("name", HOT)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_hot_statement_looks_at_what_it_takes(full, name):
    text = full.database.sql[name].format(number=0, queue="'default'", ability="'call:work'")
    rows = await examined(full, lambda session: session.query(text, *HOT[name]))
    assert rows <= MORE.get(name, EACH * LIMIT), rows
    assert not await scans(full, text, HOT[name]), "a table is walked from end to end"


async def scans(store, text, parameters):
    """Our tables that the server would walk from end to end, but for workers, which are few."""

    async def work(session):
        found = set()
        for part in text.split(";\n"):
            if not part.startswith(("SET", "(")):
                rows = await session.query(f"EXPLAIN {part}", *parameters)
                found |= {row[2] for row in rows if row[3] in {"ALL", "index"} and is_read(row)}
        return found - {"worker", "plans_worker"}

    return await store.database.write_one(work)


def is_read(row):
    """Whether a row of a plan is about a table, and not what is written to, given or found."""
    table, extra = row[2], row[9]
    return table and table[0] != "<" and extra is not None and "Table function" not in extra


#: Statements that walk over a table, and why they may.
WALKS = {
    "pending_counts": "figures of the whole store: all that is pending is counted",
    "running_count": "the same of what is running, which is as much as there are slots",
    "live_counts": "the same of one project",
    "queue_lengths": "the same by project, queue and state; of jobs only those with something live",
}
#: What is put together by what is asked for: pages and wake-ups have tests of their own.
PARTS = {
    *("list_jobs", "jobs_edge", "list_jobs_by_time", "list_executions", "executions_edge"),
    *("pending_edge", "history", "live", "pending_ids", "running_ids", "no_ids"),
    *("next_wakeup", "probe", "lane_length"),
}


@pytest.mark.asyncio(loop_scope="module")
async def test_no_statement_walks_over_a_table_but_those_that_may(full):
    sql = full.database.sql
    names = sorted(sql.keys() - HOT.keys() - PARTS)
    found = {name: await scans(full, sql[name], anything(sql[name])) for name in names}
    assert {name for name, tables in found.items() if tables} == WALKS.keys()


@pytest.mark.asyncio(loop_scope="module")
async def test_queue_lengths_look_up_only_the_jobs_of_what_is_live(full):
    text = full.database.sql["queue_lengths"]
    assert {*await scans(full, text, anything(text))} <= {"plans_queue", "running"}


def anything(text):
    """Parameters for a plan: a text is compared with whatever a column holds."""
    count = max(map(int, re.findall(r"%\((\d+)", text)), default=0)
    bounds = set(re.findall(r"(?:LIMIT|OFFSET) %\((\d+)\)s", text))
    lists = set(re.findall(r"%\((\d+)\[\]\)s", text))
    names = map(str, range(1, count + 1))
    return [LIMIT if one in bounds else jobs(7, 8) if one in lists else "1" for one in names]


@pytest.mark.asyncio(loop_scope="module")
async def test_several_lanes_are_looked_at_as_far_as_the_limit_goes(full):
    request = ClaimRequest(
        worker="w1",
        claim_id="c",
        now=NOW - 2000,
        lead=NOW,
        limit=LIMIT,
        queues=("default", "slow"),
        abilities=frozenset({"call:work", "call:other"}),
    )
    rows = await examined(full, lambda session: pick(session, full.cache, request))
    assert rows <= 12 * LIMIT, rows


@pytest.mark.parametrize("code", [codec.QUEUED, codec.PARKED])
@pytest.mark.asyncio(loop_scope="module")
async def test_lanes_are_counted_as_far_as_the_limit_goes(full, code):
    rows = await examined(full, lambda session: lane_lengths(session, code, LIMIT))
    assert rows <= 12 * LIMIT, rows


@pytest.mark.asyncio(loop_scope="module")
async def test_a_wakeup_costs_a_step_of_the_index_for_each_answer(full):
    before = await full.database.write_one(counted)
    await full.next_wakeup(NOW, ["default", "slow"])
    after = await full.database.write_one(counted)
    assert sum(after[name] - before[name] for name in after) <= 50


LISTS = {
    "all": ExecutionFilter(),
    "of a project": ExecutionFilter(project="p1"),
    "of a job": ExecutionFilter(job_id=jobs(7)[0]),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_of_executions_is_read_in_order(full, name):
    query, parameters = executions_query(full.database.sql, LISTS[name], runs("02", 1)[0], 100)
    rows = await examined(full, lambda session: session.query(query, *parameters))
    assert rows <= 600, rows


@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_of_jobs_is_read_in_order(full):
    where = JobFilter(project="p1")
    query, parameters = jobs_query(full.database.sql, where, f"p1\0job-5\0{jobs(5)[0]}", 100)
    rows = await examined(full, lambda session: session.query(query, *parameters))
    assert rows <= 1200, rows


@pytest.mark.asyncio(loop_scope="module")
async def test_the_soonest_jobs_are_found_by_their_time(full):
    query, parameters = jobs_query(full.database.sql, JobFilter(fires_before=NOW * 2), None, 100)
    rows = await examined(full, lambda session: session.query(query, *parameters))
    assert rows <= 1200, rows
