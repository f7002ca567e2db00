"""Asking for runs, backfilling, cancelling and reviving."""

from dataclasses import replace

import pytest

from tickwell.domain.execution import Kind, OutcomeKind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import HOUR, MINUTE, Misfire, OnMisfire
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import (
    Conflict,
    InvalidInput,
    InvalidPayload,
    NotFound,
    StoreUnavailable,
    WrongState,
)
from tickwell.ids import execution_id
from tickwell.ports.records import ExecutionFilter

TEN = 1_781_517_600_000
SKIP = Misfire(policy=OnMisfire.SKIP)


class TestTrigger:
    async def test_it_runs_now_with_its_own_payload(self, world):
        await world.jobs.add(world.job(OnDemand(), payload={"to": "ann"}))
        run = await world.executions.trigger("default", "report", payload={"to": "bob"})
        assert (run.kind, run.state, run.run_at) == (Kind.REQUEST, State.QUEUED, TEN)
        assert [claim.payload for claim in await world.run()] == [{"to": "bob"}]
        await world.executions.trigger("default", "report")
        assert [claim.payload for claim in await world.run()] == [{"to": "ann"}]

    async def test_or_later(self, world):
        await world.jobs.add(world.job(OnDemand()))
        run = await world.executions.trigger("default", "report", run_at=TEN + HOUR)
        assert (run.state, run.run_at) == (State.WAITING, TEN + HOUR)
        await world.at(TEN + HOUR)
        assert len(await world.run()) == 1

    async def test_the_same_key_is_the_same_run(self, world):
        await world.jobs.add(world.job(OnDemand()))
        first = await world.executions.trigger("default", "report", key="order-1")
        again = await world.executions.trigger("default", "report", key="order-1")
        other = await world.executions.trigger("default", "report", key="order-2")
        assert again.id == first.id != other.id

    async def test_a_key_belongs_to_one_payload(self, world):
        await world.jobs.add(world.job(OnDemand()))
        first = await world.executions.trigger("default", "report", payload={"a": 1}, key="k")
        for other in ({"a": 2}, None):
            with pytest.raises(Conflict, match=r"key 'k' belongs to execution .* another payload"):
                await world.executions.trigger("default", "report", payload=other, key="k")
        same = await world.executions.trigger("default", "report", payload={"a": 1}, key="k")
        assert same.id == first.id
        assert [claim.payload for claim in await world.run()] == [{"a": 1}]

    async def test_one_that_is_recorded_is_answered_though_the_store_goes_away(
        self, world, monkeypatch
    ):
        await world.jobs.add(world.job(OnDemand()))
        known = await world.executions.trigger("default", "report", key="order-1")
        expected = await world.executions.trigger("default", "report", payload=[1], key="order-2")

        async def away(_project, _id):
            raise StoreUnavailable("gone")

        with monkeypatch.context() as patched:
            patched.setattr(world.store, "get_execution", away)
            run = await world.executions.trigger("default", "report", payload=[1], key="order-3")
            # Of a run that was made before only the store knows how it is.
            with pytest.raises(StoreUnavailable):
                await world.executions.trigger("default", "report", key=known.key)
        assert run == await world.executions.get("default", run.id)
        assert run == replace(expected, id=run.id, key="order-3")

    @pytest.mark.parametrize("key", ["", "x" * 256, "a\0"])
    async def test_a_key_that_cannot_be_kept(self, world, key):
        await world.jobs.add(world.job(OnDemand()))
        with pytest.raises(InvalidInput):
            await world.executions.trigger("default", "report", key=key)

    async def test_a_busy_job_runs_all_the_same_unless_asked(self, world):
        await world.jobs.add(world.job(Every("1m")))
        await world.at(TEN + MINUTE)
        free = await world.executions.trigger("default", "report")
        bound = await world.executions.trigger("default", "report", overlap=Overlap.SKIP)
        assert (free.state, bound.state) == (State.QUEUED, State.SKIPPED)

    async def test_a_missing_or_deleted_job(self, world):
        await world.jobs.add(world.job(OnDemand()))
        await world.jobs.delete("default", ["report"])
        with pytest.raises(NotFound):
            await world.executions.trigger("default", "report")


class TestBackfill:
    async def test_what_was_skipped_runs_under_its_own_id(self, world):
        job = (await world.jobs.add(world.job(Every("1m"), misfire=SKIP))).job
        await world.at(TEN + 3 * MINUTE)
        await world.run()
        done = await world.executions.backfill("default", "report", TEN + 1, TEN + HOUR)
        assert done.ids == [execution_id(job.id, TEN + n * MINUTE) for n in (1, 2)]
        assert (done.left_alone, done.next) == (1, None)
        # One after the other: they wait for the job's gate instead of being skipped by it.
        assert [claim.fire_time for claim in await world.run()] == [TEN + MINUTE]
        assert [claim.fire_time for claim in await world.run()] == [TEN + 2 * MINUTE]
        again = await world.executions.backfill("default", "report", TEN + 1, TEN + HOUR)
        assert (again.ids, again.left_alone) == ([], 3)

    async def test_a_row_that_was_skipped_is_armed_again(self, world):
        await world.jobs.add(world.job(Every("1m")))
        await world.at(TEN + MINUTE)
        await world.at(TEN + 2 * MINUTE)
        await world.run()
        done = await world.executions.backfill("default", "report", TEN + 1, TEN + HOUR)
        assert len(done.ids) == 1
        assert [claim.fire_time for claim in await world.run()] == [TEN + 2 * MINUTE]

    async def test_forced_it_runs_again_under_a_new_id(self, world):
        job = (await world.jobs.add(world.job(Every("1m")))).job
        await world.at(TEN + MINUTE)
        await world.run()
        done = await world.executions.backfill("default", "report", TEN + 1, TEN + HOUR, force=True)
        (claim,) = await world.run()
        assert [claim.id] == done.ids
        assert claim.id != execution_id(job.id, TEN + MINUTE)
        assert claim.fire_time == TEN + MINUTE

    async def test_what_is_live_is_left_alone(self, world):
        await world.jobs.add(world.job(Every("1m")))
        await world.at(TEN + MINUTE)
        done = await world.executions.backfill("default", "report", TEN + 1, TEN + HOUR, force=True)
        assert (done.ids, done.left_alone) == ([], 1)

    async def test_before_the_job_existed(self, world):
        await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW))
        done = await world.executions.backfill("default", "report", TEN - 3 * MINUTE, TEN)
        assert len(done.ids) == 3
        fires = [claim.fire_time for claim in await world.run()]
        assert sorted(fires) == [TEN - 3 * MINUTE, TEN - 2 * MINUTE, TEN - MINUTE]
        again = await world.executions.backfill("default", "report", TEN - 3 * MINUTE, TEN)
        assert again.ids == []

    async def test_what_is_to_come_cannot_be_backfilled(self, world):
        await world.jobs.add(world.job(Every("1m")))
        with pytest.raises(InvalidInput):
            await world.executions.backfill("default", "report", TEN + 1, TEN + HOUR)

    async def test_an_old_slot_is_not_past_its_time_to_live(self, world):
        await world.jobs.add(world.job(Every("1m"), misfire=SKIP, expires="1m"))
        await world.at(TEN + HOUR + MINUTE // 2)
        await world.executions.backfill("default", "report", TEN + 1, TEN + 2 * MINUTE)
        await world.at(world.clock.now())
        assert [claim.fire_time for claim in await world.run()] == [TEN + MINUTE]


class TestCancel:
    async def test_what_is_pending_ends(self, world):
        await world.jobs.add(world.job(OnDemand()))
        run = await world.executions.trigger("default", "report")
        assert await world.executions.cancel("default", [run.id]) == [run.id]
        assert (await world.executions.get("default", run.id)).state is State.CANCELLED
        with pytest.raises(WrongState):
            await world.executions.cancel("default", [run.id])

    async def test_what_is_not_there(self, world):
        with pytest.raises(NotFound):
            await world.executions.cancel("default", ["nothing"])


class TestRevive:
    async def dead(self, world):
        await world.jobs.add(world.job(OnDemand()))
        run = await world.executions.trigger("default", "report", payload={"to": "ann"})
        await world.run(OutcomeKind.FAILED, retry=False)
        return run.id

    async def test_it_keeps_its_id(self, world):
        id = await self.dead(world)
        assert await world.executions.revive("default", [id, "nothing"]) == [id]
        (claim,) = await world.run()
        assert (claim.id, claim.attempt, claim.charged) == (id, 2, 1)

    async def test_with_another_payload_it_is_another_execution(self, world):
        id = await self.dead(world)
        new = await world.executions.revive_edited("default", id, {"to": "bob"})
        assert new.revived_from == id != new.id
        assert [claim.payload for claim in await world.run()] == [{"to": "bob"}]
        assert (await world.executions.get("default", id)).state is State.DEAD

    async def test_a_job_named_like_its_job_takes_no_part(self, world):
        id = await self.dead(world)
        job = (await world.executions.get("default", id)).job_id
        await world.added_before(job)
        new = await world.executions.revive_edited("default", id, {"to": "bob"})
        assert new.job_id == job

    async def test_a_job_that_is_gone_is_not_found(self, world):
        id = await self.dead(world)
        dead = await world.executions.get("default", id)
        gone = replace(dead, id="gone", job_id="0197c0de-0000-7000-8000-000000000000")
        await world.added_before(gone.job_id)
        with pytest.raises(NotFound, match=gone.job_id):
            await world.executions.repeat("default", [gone], None)
        refused: dict[str, str] = {}
        repeated = await world.executions.repeat("default", [gone, dead], None, None, refused)
        assert len(repeated) == 1
        assert refused == {gone.job_id: f"no job {gone.job_id!r} in this project"}
        await world.jobs.delete("default", ["report"])
        with pytest.raises(NotFound, match="report"):
            await world.executions.revive_edited("default", id, None)

    async def test_only_what_is_dead(self, world):
        await world.jobs.add(world.job(OnDemand()))
        run = await world.executions.trigger("default", "report")
        with pytest.raises(WrongState):
            await world.executions.revive("default", [run.id])
        with pytest.raises(WrongState):
            await world.executions.revive_edited("default", run.id, None)
        with pytest.raises(NotFound):
            await world.executions.revive("default", ["nothing"])


async def test_listing(world):
    await world.jobs.add(world.job(OnDemand()))
    for _ in range(3):
        world.clock.instant += 1
        await world.executions.trigger("default", "report")
    page = await world.executions.list(ExecutionFilter(project="default"), limit=2)
    assert len(page.items) == 2
    rest = await world.executions.list(ExecutionFilter(project="default"), page.cursor)
    assert (len(rest.items), rest.cursor) == (1, None)


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"rate": float("nan")}, "payload.rate"),
        ([1, float("inf")], "payload.1"),
        ({"by": {1: "x"}}, "payload.by"),
        ({"at": {1, 2}}, "payload.at"),
        (b"bytes", "payload"),
        (2**64, "payload"),
        ("\ud800", "payload"),
        ("x" * 1024 * 1024, "payload"),
    ],
)
async def test_what_is_not_json_is_refused_with_its_place(world, payload, field):
    await world.jobs.add(world.job(OnDemand()))
    with pytest.raises(InvalidPayload) as caught:
        await world.executions.trigger("default", "report", payload=payload)
    assert caught.value.field == field


async def test_a_payload_without_end_is_refused(world):
    await world.jobs.add(world.job(OnDemand()))
    endless: list = []
    endless.append(endless)
    with pytest.raises(InvalidPayload):
        await world.executions.trigger("default", "report", payload=endless)
