"""Hot statements on PostgreSQL look at what they take, not at what there is.

200,000 jobs, 100,000 executions in history, 100,000 that wait, 50,000 that are queued. A plan is
made as a pooled connection makes it after five calls: without knowing the parameters. The long one,
`long_postgres.py`, has 1,000,000 jobs, and 5,000,000 executions in history.
"""

import pytest

from tests.plans.postgres_full import (
    NOW,
    QUEUED,
    RUNNING,
    WAITING,
    examined,
    jobs,
    plan_of,
    plan_of_any,
    plan_of_text,
    runs,
    scanned,
    walks,
)
from tickwell.clock import NEVER
from tickwell.domain.execution import Kind, State
from tickwell.domain.job import JobState
from tickwell.ports.records import CLAIM_BYTES, ExecutionFilter, JobFilter
from tickwell.stores.postgres.listing import (
    executions_edge,
    executions_query,
    jobs_edge,
    jobs_query,
)
from tickwell.stores.sql.rows import codec

# The first test waits until all that is there: half a minute, more on a busy machine.
pytestmark = pytest.mark.timeout(600)

JOBS = 200_000
#: Executions in history.
ENDED = 100_000
LIMIT = 500
#: How many a filter may pass over that do not match.
FEW = 100

SOME = range(1, LIMIT + 1)
RAN = range(WAITING + QUEUED + 1, WAITING + QUEUED + LIMIT + 1)
REPORTS = [
    runs("01", *RAN),
    *([1] * LIMIT for _ in range(2)),
    [5] * LIMIT,
    [0] * LIMIT,
    [None] * LIMIT,
    *([1] * LIMIT for _ in range(3)),
    *([NOW] * LIMIT for _ in range(2)),
    *([None] * LIMIT for _ in range(2)),
]


def array(values):
    return "{" + ",".join(map(str, values)) + "}"


#: Jobs that this process cannot read: never many.
LEFT_OUT = jobs(1, 2)
HOT = {
    "due": (NOW, LEFT_OUT, LIMIT),
    "is_due": (NOW, LEFT_OUT),
    "due_projects": (NOW, LIMIT),
    "due_of_project": (NOW, LEFT_OUT, LIMIT, "p1"),
    "documents": (jobs(*SOME),),
    "move_cursor": (
        [0] * LIMIT,
        *([NOW] * LIMIT for _ in range(3)),
        ["f"] * LIMIT,
        *([None] * LIMIT for _ in range(3)),
        [1] * LIMIT,
        [NOW] * LIMIT,
        jobs(*SOME),
    ),
    "claim_lanes": (
        *("w1", "c", NOW - 2000, CLAIM_BYTES, NOW * 2, LEFT_OUT),
        *(["default", "slow"], ["call:work", "call:other"], [LIMIT - 100, 100]),
    ),
    "claim_ids": (
        *("w1", "c", NOW - 2000, CLAIM_BYTES, NOW * 2, LEFT_OUT),
        *(["default", "slow"], ["call:work", "call:other"], LIMIT),
        runs("01", *range(WAITING + 1, WAITING + LIMIT)),
    ),
    "finish": REPORTS,
    "finish_quickly": (
        *(array(REPORTS[0]), array(REPORTS[1]), array(jobs(*SOME)), array(REPORTS[1])),
        *(array(REPORTS[9]), array(REPORTS[10]), [], [], 5, 0, None, 1, 1, 1),
    ),
    "lock_jobs": (jobs(*SOME),),
    "gates_of_jobs": (jobs(*SOME),),
    "running_rows": (runs("01", *RAN),),
    "pass_job_on": (jobs(*SOME),),
    "best_before_gates": ([f"gate-{n}" for n in range(50)], [LIMIT // 50] * 50),
    "move_keyed": (*([2] * LIMIT, [0] * LIMIT), *([True] * LIMIT,) * 2, runs("03", *SOME)),
    "gates_behind": (jobs(*SOME),),
    "existing": (runs("01", *SOME),),
    "arm_again": (
        *(array(runs("00", *SOME)), array(["p1"] * LIMIT), array(jobs(*SOME))),
        *(array([number] * LIMIT) for number in (1, 0, NOW, NOW)),
        *(array([name] * LIMIT) for name in ("default", "call:work", NOW, 4, "NULL", 0)),
        *(array(["NULL"] * LIMIT) for _ in range(3)),
        *(array([value] * LIMIT) for value in (1, 1, NOW, "f", NOW, "NULL", "f")),
    ),
    "promote": (NOW, NEVER, LEFT_OUT, LIMIT),
    "expired": (NOW, LEFT_OUT, LIMIT),
    "still_waiting": (runs("01", *SOME), NOW),
    "owned": ("w1",),
    "held_claims": ("w1", "c1"),
    "next_wakeup": (NEVER, NOW, ["default", "slow"], LEFT_OUT, LEFT_OUT),
    "queues": (),
    "jobs_to_prune": (NOW, LIMIT, -1, jobs(0)[0]),
    "past_age": (jobs(7)[0], NOW, 1, 1, LIMIT),
    "past_count": (jobs(7)[0], LIMIT, 0),
    "requested_job": ("p1", "job-1", None),
    "add_waiting": (
        *(runs("02", 1)[0], "p1", jobs(7)[0], 1, 1, NOW, NOW, "default", "call:work", NOW, 4),
        *(None, 0, None, "key", None, NOW, None, "{}", "bell"),
    ),
    "requests": (jobs(*SOME), ["key"] * LIMIT),
    "take_uncounted": (LIMIT,),
    "count_made": ([1] * LIMIT, [None] * LIMIT, [NOW] * LIMIT, jobs(*SOME)),
}
#: The best of several lanes are merged: so many each. And all that a worker holds.
MORE = {"claimable": 4 * LIMIT, "orphans": RUNNING, "owned": RUNNING}


@pytest.mark.parametrize("name", HOT)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_hot_statement_looks_at_twice_its_limit_at_most(full, name):
    plan = await plan_of(full, name, *HOT[name])
    assert scanned(plan) <= {"worker"}  # which are few
    assert examined(plan) <= MORE.get(name, 2 * LIMIT)


@pytest.mark.asyncio(loop_scope="module")
async def test_several_lanes_are_looked_at_as_far_as_the_limit_goes(full):
    lanes = ["default", "slow"], ["call:work", "call:other"]
    spent = ["slow"], ["call:none"]
    bounds = NOW * 2, NOW - 2000, LIMIT, LEFT_OUT
    plan = await plan_of(full, "claimable", *lanes, *bounds, *spent)
    assert scanned(plan) == set()
    assert examined(plan) <= MORE["claimable"]


@pytest.mark.asyncio(loop_scope="module")
async def test_who_only_looks_sees_as_far_as_the_limit_goes(full):
    lanes = ["default", "slow"], ["call:work", "call:other"]
    plan = await plan_of(full, "best_of_lanes", *lanes, NOW * 2, LIMIT)
    assert scanned(plan) == set()
    assert examined(plan) <= MORE["claimable"]


@pytest.mark.parametrize("code", [codec.QUEUED, codec.PARKED])
@pytest.mark.asyncio(loop_scope="module")
async def test_lanes_are_counted_as_far_as_the_limit_goes(full, code):
    text = full[1].sql["lane_lengths"].format(code=code)
    plan = await plan_of_text(full, text, (LIMIT,))
    assert scanned(plan) == set()
    assert examined(plan) <= MORE["claimable"]


@pytest.mark.asyncio(loop_scope="module")
async def test_orphans_are_found_among_what_is_running(full):
    plan = await plan_of(full, "orphans", NOW, LEFT_OUT, LIMIT)
    assert scanned(plan) <= {"worker"}
    assert examined(plan) <= MORE["orphans"]


#: Statements that walk over a table, and why they may.
WALKS = {
    "ended_counts": "a count has a row for each state and each of 64 writers",
    "pending_counts": "figures of the whole store: all that is pending is counted",
    "running_count": "the same of what is running, which is as much as there are slots",
    "live_counts": "the same of one project",
    "queue_lengths": "the same by project, queue and state; of jobs only those with something live",
    "job_counts": "all jobs are counted, once a minute for all processes together",
    "list_workers": "workers are few",
    "edited_jobs": "its index has nothing but such jobs",
    "prune_gates": "a prune takes what nobody is in, and so leaves few",
}
#: What pages are put together from, by what is asked for: they have tests of their own.
PARTS = {
    *("list_jobs", "jobs_edge", "list_jobs_by_time", "list_executions", "executions_edge"),
    *("pending_edge", "history", "live", "pending_ids", "running_ids", "no_ids", "lane_lengths"),
}


@pytest.mark.asyncio(loop_scope="module")
async def test_no_statement_walks_over_a_table_but_those_that_may(full):
    names = full[1].sql.keys() - PARTS
    found = {name: set(walks(await plan_of_any(full, name))) for name in sorted(names)}
    assert {name: tables for name, tables in found.items() if tables}.keys() == WALKS.keys()


@pytest.mark.asyncio(loop_scope="module")
async def test_queue_lengths_look_up_only_the_jobs_of_what_is_live(full):
    assert {*walks(await plan_of_any(full, "queue_lengths"))} <= {"queue", "running"}


JOB_LISTS = (
    JobFilter(project="p1"),
    JobFilter(project="p1", states=frozenset({JobState.ACTIVE})),
    JobFilter(project="p1", queue="default", search="job-"),
)
RUN_LISTS = (
    ExecutionFilter(project="p1"),
    ExecutionFilter(project="p1", job_id=jobs(101)[0]),
    ExecutionFilter(project="p0", states=frozenset({State.DEAD})),
    ExecutionFilter(project="p1", queue="default", kind=Kind.FIRE),
)


#: What nothing matches.
JOB_SEARCHES = (
    JobFilter(project="p1", look=FEW, tag="none"),
    JobFilter(project="p1", look=FEW, queue="none"),
    JobFilter(project="p1", look=FEW, search="none"),
    JobFilter(project="p1", look=FEW, states=frozenset({JobState.PAUSED})),
)
RUN_SEARCHES = (
    ExecutionFilter(project="p1", look=FEW, queue="none"),
    ExecutionFilter(project="p1", look=FEW, kind=Kind.REQUEST),
    ExecutionFilter(project="p1", look=FEW, until=-1),
    ExecutionFilter(project="p0", look=FEW, states=frozenset({State.CANCELLED, State.SKIPPED})),
    ExecutionFilter(project="p1", look=FEW, job_id=jobs(101)[0], states=frozenset({State.DEAD})),
    ExecutionFilter(project="p9", look=FEW, states=frozenset({State.WAITING, State.RUNNING})),
)


@pytest.mark.parametrize("where", JOB_LISTS, ids=range(len(JOB_LISTS)))
@pytest.mark.parametrize("cursor", [None, f"p1\0job-500001\0{jobs(500_001)[0]}"])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_of_jobs_looks_at_a_page(full, where, cursor):
    plan = await plan_of_text(full, *jobs_query(full[1].sql, where, cursor, LIMIT))
    assert scanned(plan) == set()
    assert examined(plan) <= 2 * LIMIT


@pytest.mark.asyncio(loop_scope="module")
async def test_the_soonest_jobs_are_found_by_their_time(full):
    where = JobFilter(fires_before=NOW * 2)
    plan = await plan_of_text(full, *jobs_query(full[1].sql, where, None, LIMIT))
    assert scanned(plan) == set()
    assert examined(plan) <= 2 * LIMIT


@pytest.mark.parametrize("where", RUN_LISTS, ids=range(len(RUN_LISTS)))
@pytest.mark.parametrize("cursor", [None, runs("00", 150_001)[0]])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_of_executions_looks_at_a_page(full, where, cursor):
    plan = await plan_of_text(full, *executions_query(full[1].sql, where, cursor, LIMIT))
    assert scanned(plan) == set()
    assert examined(plan) <= 2 * LIMIT


@pytest.mark.parametrize("where", JOB_SEARCHES, ids=range(len(JOB_SEARCHES)))
@pytest.mark.parametrize("cursor", [None, f"p1\0job-500001\0{jobs(500_001)[0]}"])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_filter_that_no_job_matches_looks_as_far_as_it_may(full, where, cursor):
    sql = full[1].sql
    walk = jobs_edge(sql, where, cursor, FEW)
    plan = await plan_of_text(full, *walk)
    assert examined(plan) <= FEW
    edge = "\0".join(await full[0].fetchrow(*_spread(walk)))
    plan = await plan_of_text(full, *jobs_query(sql, where, cursor, LIMIT, edge))
    assert scanned(plan) == set()
    assert examined(plan) <= FEW


@pytest.mark.parametrize("where", JOB_SEARCHES[:3], ids=range(3))
@pytest.mark.parametrize("cursor", [None, f"p1\0job-500001\0{jobs(500_001)[0]}"])
@pytest.mark.asyncio(loop_scope="module")
async def test_an_index_is_read_no_further_than_its_rows(full, where, cursor):
    """Entries that are compared and passed over are in no count of rows."""
    sql = full[1].sql
    edge = "\0".join(await full[0].fetchrow(*_spread(jobs_edge(sql, where, cursor, FEW))))
    plan = await plan_of_text(full, *jobs_query(sql, where, cursor, LIMIT, edge), "BUFFERS")
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= 1.25 * FEW


@pytest.mark.parametrize("where", RUN_SEARCHES, ids=range(len(RUN_SEARCHES)))
@pytest.mark.asyncio(loop_scope="module")
async def test_a_filter_that_no_execution_matches_looks_as_far_as_it_may(full, where):
    sql = full[1].sql
    walk = executions_edge(sql, where, None, FEW)
    plan = await plan_of_text(full, *walk)
    assert examined(plan) <= FEW
    edge = await full[0].fetchval(*_spread(walk))
    plan = await plan_of_text(full, *executions_query(sql, where, None, LIMIT, edge))
    assert scanned(plan) <= {"running"}  # which are few
    assert examined(plan) <= RUNNING + FEW


def _spread(query):
    text, parameters = query
    return text, *parameters
