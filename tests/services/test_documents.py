"""Records as JSON documents."""

import json

from tests.services.conftest import TEN, WORKER
from tickwell import Every, Http, OnDemand
from tickwell.domain.document import job_from_document
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.trigger.duration import Millis
from tickwell.services.documents import (
    backfill_document,
    changed_document,
    completeness_document,
    definition_of,
    entry_document,
    execution_document,
    group_document,
    slots_document,
    worker_document,
)
from tickwell.services.executions.dead_letters import DeadLetters

HOUR = 3_600_000


async def test_a_job_reads_back_as_its_definition(world):
    entry = await world.jobs.add(
        Job(
            id="",
            name="a",
            trigger=Every("1h"),
            target=Http("https://example.com/"),
            expires=Millis(5000),
        )
    )
    document = json.loads(json.dumps(entry_document(entry)))
    assert document["state"] == "active"
    assert document["next_fire_time"] == "2026-06-15T11:00:00.000Z"
    assert document["created_at"] == "2026-06-15T10:00:00.000Z"
    assert (document["queue"], document["project"], document["version"]) == (
        "default",
        "default",
        1,
    )
    assert job_from_document(definition_of(document)) == entry.job


async def test_the_next_fire_of_a_pause_is_the_first_after_its_end(world):
    await world.jobs.add(world.job(Every("1h")))
    paused = (
        await world.jobs.pause("default", ["report"], by="ann", why="moving", until=TEN + 5 * HOUR)
    )[0]
    document = changed_document(paused)
    assert document["job"]["pause"] == {
        "by": "ann",
        "why": "moving",
        "since": "2026-06-15T10:00:00.000Z",
        "until": "2026-06-15T15:00:00.000Z",
        "scope": "job",
    }
    assert document["job"]["next_fire_time"] == "2026-06-15T15:00:00.000Z"
    assert document["withdrawn"] == document["cancelling"] == 0
    held = (await world.jobs.pause("default", ["report"], by="ann", why="still moving"))[0]
    assert changed_document(held)["job"]["next_fire_time"] is None


async def test_executions_slots_and_workers(world):
    await world.jobs.add(world.job(Every("1h")))
    await world.at(TEN + HOUR)
    await world.run(OutcomeKind.FAILED, error="no", retry=False)
    fire = "2026-06-15T11:00:00.000Z"

    page = await world.slots.read("default", "report", TEN, TEN + 2 * HOUR)
    slots = await slots_document(page)
    (first,) = slots["items"]
    assert (first["fire_time"], first["answer"], first["state"]) == (fire, "executed", "dead")

    execution = await world.executions.get("default", first["execution_id"])
    document = execution_document(execution, "report", attempts=True)
    assert (document["fire_time"], document["job_name"]) == (fire, "report")
    assert [each["outcome"] for each in document["attempts"]] == ["failed"]
    assert "attempts" not in execution_document(execution)

    groups = await DeadLetters(world.store, world.clock, world.wake).groups("default")
    (group,) = groups.items
    assert group_document(group)["newest"]["id"] == execution.id
    (worker,) = await world.store.list_workers()
    assert worker_document(worker, worker.seen_at)["state"] == "alive"
    assert worker_document(worker, worker.seen_at)["queues"] == list(WORKER.queues)
    counted = await world.slots.completeness("default", "report", TEN, TEN + 2 * HOUR)
    assert completeness_document(counted)["executed"] == 1


async def test_what_is_listed_says_where_it_goes_on(world):
    from tickwell.ports.records import JobFilter

    for name in "abc":
        await world.jobs.add(world.job(OnDemand(), name=name))
    page = await world.jobs.list(JobFilter(project="default"), limit=2)
    assert [entry_document(entry)["name"] for entry in page.items] == ["a", "b"]
    assert page.cursor is not None


async def test_a_backfill(world):
    await world.jobs.add(world.job(Every("1h")))
    done = await world.executions.backfill("default", "report", TEN - 2 * HOUR, TEN)
    document = {"ids": done.ids, "count": 2, "left_alone": 0, "next": None}
    assert backfill_document(done) == document
    assert len(done.ids) == 2
