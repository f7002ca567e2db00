"""The shape of every query: an index leads to it, and it looks at little more than it answers.

No query needs to know on which shard something is: each names ids, or asks all shards for the first
of an index. So the ids may be hashed over shards.
"""

import json
from contextlib import asynccontextmanager

import pytest
from pymongo.monitoring import CommandListener

from tests.servers.mongo import empty, server
from tickwell.domain.change import pause
from tickwell.domain.document import job_to_document
from tickwell.domain.execution import State
from tickwell.domain.job import JobState
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Every, OnDemand
from tickwell.ids import execution_id
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.mongo import MongoStore
from tickwell.stores.mongo.codec import PARKED, QUEUED, SUCCEEDED, WAITING
from tickwell.stores.mongo.documents import cursor_document, definition_document
from tickwell.testing.contract.builders import T0, a_job, a_request, a_worker, minute
from tickwell.testing.contract.scene import Scene

#: Executions in each of four states, and a quarter of the jobs; a count is told from a scan by few.
EACH, FEW = 10_000, 1_000
LIMIT = 100
#: What every reaper looks for.
REMOVABLE = JobFilter(states=frozenset({JobState.FINISHED}), auto_remove=True)
PLAIN = {"find", "update", "delete", "distinct", "aggregate", "findAndModify"}
SHOWN = PLAIN | {"filter", "sort", "updates", "deletes", "pipeline"}
#: Collections with a document for each process, key or batch at work.
SMALL = {"batches", "gates", "workers", "meta", "bell"}


class Recorder(CommandListener):
    """Notes what is asked of the server."""

    def __init__(self):
        self.commands = []

    def started(self, event):
        if event.command_name in PLAIN:
            self.commands.append(event.command)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


def job_documents(count):
    model = a_job("model", trigger=Every("1m"))
    text = json.dumps(job_to_document(model))
    cursor = cursor_document(first_cursor(model, T0))
    for number in range(count):
        id = f"{number:08}-0000-7000-8000-000000000000"
        own = {"_id": id, "name": f"n{number:06}", "search": f"n{number:06}", "rev": 0}
        yield {
            **definition_document(model),
            **cursor,
            **own,
            "document": text.replace(model.id, id).replace('"model"', f'"{own["name"]}"'),
            "next": T0 + 10 * MINUTE + number,
        }


def execution_documents(job, each):
    for number in range(4 * each):
        state = (WAITING, QUEUED, PARKED, SUCCEEDED)[number % 4]
        at = T0 + number
        doc = {"_id": execution_id(job.id, at), "project": "default", "job": job.id, "version": 1}
        doc |= {"kind": 1, "state": state, "fire_time": at, "run_at": at, "queue": "default"}
        doc |= {"ability": "call:work", "created_at": T0, "rank": at, "overlap": 4, "look_at": at}
        yield doc | {"hard": 300_000, "rev": 0} | ({"ended_at": at} if state == SUCCEEDED else {})


@pytest.fixture(scope="module")
def full():
    """A database with many jobs, and many executions of one."""
    url = server().url("plans", journal="false")
    job = a_job("busy", trigger=OnDemand())
    return url, job


@pytest.fixture
async def asked(full, request):
    """What a store on it asks; with so many executions in each state."""
    url, job = full
    empty(url)
    async with opened(MongoStore.from_url(url)) as store:
        await Scene(store).add(job)
    with server().client(w=1, journal=False) as client:
        database = client["plans"]
        # No store is open meanwhile: a loop that stands still for half a minute, as on a busy
        # machine, cannot follow its server, and its connections are dropped as dead.
        database["jobs"].insert_many(job_documents(4 * request.param), ordered=False)
        database["executions"].insert_many(execution_documents(job, request.param), ordered=False)
        store, recorder = MongoStore.from_url(url), Recorder()
        store.location.options["event_listeners"] = [recorder]
        async with opened(store):
            recorder.commands.clear()
            yield Scene(store), job, recorder, database


@asynccontextmanager
async def opened(store):
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def stages(plan):
    if isinstance(plan, dict):
        if "stage" in plan:
            yield plan["stage"]
        for part in plan.values():
            yield from stages(part)
    elif isinstance(plan, list):
        for part in plan:
            yield from stages(part)


def explained(database, command):
    """How the server carries a command out, and how many documents it looks at."""
    plain = {
        name: value
        for name, value in command.items()
        if name not in {"lsid", "$db", "writeConcern", "$clusterTime", "txnNumber", "ordered"}
    }
    for several in ("updates", "deletes"):
        if several in plain:
            plain[several] = plain[several][:1]
    told = database.command("explain", plain, verbosity="executionStats")
    [stats] = (
        [told["executionStats"]]
        if "executionStats" in told
        else [stage["$cursor"]["executionStats"] for stage in told["stages"] if "$cursor" in stage]
    )
    return set(stages(stats["executionStages"])), stats["totalDocsExamined"]


async def work(scene, job):
    store = scene.store
    await scene.fire(minute(10), limit=LIMIT)
    await scene.fire(minute(10) + 2 * LIMIT, limit=LIMIT, round_robin=True)
    await scene.promote(minute(10), limit=LIMIT)
    await store.beat(a_worker("w1"), T0)
    claims = await scene.claim(minute(10), limit=LIMIT)
    assert len(claims) == LIMIT
    await scene.succeed(claims[::2], minute(10))
    await scene.fail(claims[1::2], minute(10))
    await store.declare_lost("w1", 1, T0)
    await store.orphans(T0, LIMIT)
    await store.next_wakeup(T0)
    await store.next_wakeup(T0, ["default", "other"])
    [id] = await scene.run(a_request(job, T0, key="k"))
    await scene.settle([id], State.CANCELLED, T0)
    await store.get_jobs("default", ["n000001", job.id])
    first = await store.list_jobs(JobFilter(project="default"), None, LIMIT)
    await store.list_jobs(JobFilter(project="default"), first.cursor, LIMIT)
    await store.list_jobs(JobFilter(fires_before=minute(11)), None, LIMIT)
    await store.list_jobs(JobFilter(project="default", app="shop"), None, LIMIT)
    await store.list_jobs(REMOVABLE, None, LIMIT)
    assert await store.lane_lengths(State.QUEUED, LIMIT)
    await store.list_executions(ExecutionFilter(job_id=job.id), None, LIMIT)
    await store.list_executions(ExecutionFilter(project="default"), None, LIMIT)
    await store.list_executions(ExecutionFilter(states=frozenset({State.PARKED})), None, LIMIT)
    await store.list_jobs(JobFilter(project="default", tag="none", look=LIMIT), None, LIMIT)
    rare = ExecutionFilter(project="default", queue="none", look=LIMIT)
    await store.list_executions(rare, None, LIMIT)
    await store.list_skips(job.id, 0, T0)
    fresh = await scene.job("quiet", trigger=OnDemand())
    await scene.change(fresh, pause("ann", "why"), T0)


@pytest.mark.parametrize("asked", [EACH], indirect=True)
async def test_no_query_reads_a_whole_collection_or_much_more_than_it_answers(asked):
    scene, job, recorder, database = asked
    await work(scene, job)
    assert len(recorder.commands) > 50
    wrong = []
    for command in recorder.commands:
        name = next(iter(command))
        if command[name] in SMALL:
            continue
        found, examined = explained(database, command)
        if "COLLSCAN" in found or examined > 2 * LIMIT + 2:
            asked_for = {key: value for key, value in command.items() if key in SHOWN}
            wrong.append(f"{asked_for} {sorted(found)} {examined}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("asked", [FEW], indirect=True)
async def test_counts_come_from_indexes(asked):
    scene, _, recorder, database = asked
    counted = await scene.store.stats()
    assert [counted[state] for state in (State.WAITING, State.SUCCEEDED)] == [FEW, FEW]
    for command in recorder.commands:
        found, examined = explained(database, command)
        assert "COLLSCAN" not in found
        assert examined <= FEW
