"""New jobs and slots are written together; texts come back as given, and lanes in order."""

from collections import Counter

import pytest

from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.errors import JobExists
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.session import Session
from tickwell.testing.contract.builders import T0, a_backfill, a_job, a_request, minute

TEXTS = [
    "",
    "null",
    '"',
    "\\",
    '\\"',
    "a\nb\tc",
    "\\n",
    "{a,b}",
    " x ",
    "ü",
    "\N{GRINNING FACE}",
    "\x01",
    "\x1f",
]


@pytest.fixture
def asked(monkeypatch):
    """The names of statements, in their order."""
    names = []
    rows = Session.rows

    async def noted(self, name, *parameters):
        names.append(name)
        return await rows(self, name, *parameters)

    monkeypatch.setattr(Session, "rows", noted)
    return names


async def test_texts_come_back_as_they_were_given(scene, store):
    jobs = [
        a_job(
            trigger=OnDemand(), description=text, tags=(text, "b"), payload=[text], app=text or None
        )
        for text in TEXTS
    ]
    await scene.add(*jobs)
    other = PostgresStore(store.location)  # which has none of them in its memory
    await other.open()
    try:
        found = await other.get_jobs("default", [job.id for job in jobs])
    finally:
        await other.close()
    assert [entry.job for entry in found] == jobs


async def test_new_jobs_take_one_statement(scene, asked):
    await scene.add(a_job(), a_job(dedupe_key="k"))
    assert asked == ["add_jobs"]


async def test_a_backfill_takes_as_many_statements_for_many_as_for_two(scene, asked):
    job = await scene.job(overlap=Overlap.QUEUE_ALL)
    for slots in (range(2), range(2, 100)):
        asked.clear()
        await scene.run(*[a_backfill(job, minute(-n), overlap=job.overlap) for n in slots])
        assert asked == ["lock_jobs", "insert_new", "count_made"]


async def test_slots_that_were_skipped_are_armed_together(scene, asked):
    job = await scene.job()
    first, *skipped = [a_backfill(job, minute(-n), overlap=Overlap.SKIP) for n in range(100)]
    await scene.run(first, *skipped)
    asked.clear()
    slots = [*skipped, a_backfill(job, minute(-100))]
    for slot in slots:
        slot.overlap = Overlap.QUEUE_ALL
    await scene.run(*slots)
    again = ["lock_jobs", "existing", "insert_new", "arm_again", "count_made", "count_ended"]
    assert asked == ["lock_jobs", "insert_new", *again]
    assert Counter(await scene.states(job)) == {State.QUEUED: 1, State.BLOCKED: 100}


async def test_what_is_taken_is_found_as_before(scene, store):
    first, keyed = a_job(name="a"), a_job(name="b", dedupe_key="k")
    await scene.add(first, keyed)
    with pytest.raises(JobExists):
        await scene.add(a_job(name="c"), a_job(name="a"))
    with pytest.raises(JobExists):
        await scene.add(a_job(name="d"), a_job(name="d"))
    again = a_job(name="e", dedupe_key="k")
    answers = await scene.add(a_job(name="f"), again, first)
    assert len(await store.get_jobs("default", ["a", "b", "f"])) == 3
    assert await store.get_jobs("default", ["c", "d", "e"]) == []
    assert [entry.job.name for entry in answers] == ["f", "b", "a"]


async def test_lanes_are_in_order_whatever_the_server_knows_of_its_tables(scene, owner):
    for number, handler in enumerate(("z", "a", "m")):
        job = await scene.job(trigger=OnDemand(), target=Call(handler))
        await scene.run(a_request(job, T0 + number))
        if number == 0:
            # A table that had one row at the last look is walked, in the order of its ids.
            await owner.execute("VACUUM ANALYZE stores.execution")
    await scene.store.promote(T0 + 3, 1_000, 100)
    lanes = await scene.store.lane_lengths(State.QUEUED, 10)
    assert [lane.ability for lane in lanes] == ["call:a", "call:m", "call:z"]
