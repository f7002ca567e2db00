"""Changing jobs: atomically, in order, and with their pending executions."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tickwell.clock import to_datetime
from tickwell.domain.change import Change, Changed, Changer, delete, edit, pause, recall
from tickwell.domain.document import job_from_document
from tickwell.domain.execution import Claim, OutcomeKind, Reason, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Entry, Job, JobState
from tickwell.domain.planning import Absence, plan
from tickwell.domain.policy import MINUTE, SECOND, Misfire, OnMisfire
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, Once, OnDemand
from tickwell.errors import JobExists, NotFound, VersionConflict, WrongState
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic

#: Two seconds before the first fire, and fired ahead.
AHEAD = minute(1) - 2 * SECOND


class Editing(Topic):
    """What an edit does to executions."""

    async def test_fires_to_come_are_withdrawn_and_planned_anew(self, scene: Scene) -> None:
        job = await scene.job(trigger=Every("30s"), overlap=Overlap.ALLOW)
        await scene.fire(minute(1) - SECOND, horizon=SECOND)
        edited = replace(job, trigger=Every("1m"), target=Call("other"))
        changed = await scene.change(job, edit(edited), minute(1) - SECOND)
        assert (changed.withdrawn, changed.cancelling) == (1, 0)
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.WITHDRAWN)
        await scene.fire(minute(1))
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.job_version, slot.ability) == (State.QUEUED, 2, "call:other")

    async def test_the_rest_goes_on_by_the_new_definition(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        edited = replace(job, target=Call("other"), queue="slow", priority=9, payload=7)
        changed = await scene.change(job, edit(edited), T0 + 1)
        assert (changed.withdrawn, changed.cancelling) == (0, 0)
        kept = await scene.execution(id)
        assert (kept.state, kept.job_version) == (State.QUEUED, 2)
        assert (kept.queue, kept.ability) == ("slow", "call:other")
        assert await scene.claim(T0 + 1) == []
        assert await scene.claim(T0 + 1, queues=("slow",)) == []
        able = frozenset({"call:other"})
        claim = await scene.claim_one(T0 + 1, queues=("slow",), abilities=able)
        assert (claim.job.version, claim.payload) == (2, 7)

    async def test_the_new_priority_counts_for_what_is_queued(self, scene: Scene) -> None:
        job, other = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(other, T0), a_request(job, T0 + 1), now=T0 + 1)
        await scene.change(job, edit(replace(job, priority=10)), T0 + 1)
        claims = await scene.claim(T0 + 1)
        assert [claim.id for claim in claims] == [ids[1], ids[0]]

    async def test_a_due_fire_is_kept(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        await scene.change(job, edit(job), minute(1))
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.job_version) == (State.QUEUED, 2)

    async def test_a_permit_set_free_by_withdrawing_passes_on(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.QUEUE_ALL)
        await scene.fire(AHEAD, horizon=2 * SECOND)
        polite = a_request(job, AHEAD, overlap=Overlap.QUEUE_ALL)
        [id] = await scene.run(polite, now=AHEAD)
        assert (await scene.execution(id)).state is State.BLOCKED
        await scene.change(job, edit(job), AHEAD)
        assert (await scene.execution(id)).state is State.QUEUED

    async def _held_for_its_instant(self, scene: Scene) -> tuple[Job, Claim]:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        return job, await scene.claim_one(AHEAD, lead=2 * SECOND)

    async def test_what_is_held_for_its_instant_is_asked_to_give_up(self, scene: Scene) -> None:
        job, claim = await self._held_for_its_instant(scene)
        changed = await scene.change(job, edit(replace(job, trigger=Every("7m"))), AHEAD + 1)
        assert (changed.withdrawn, changed.cancelling) == (0, 1)
        [owned] = (await scene.beat("w1")).owned
        assert owned.cancel
        await scene.finish(claim, OutcomeKind.CANCELLED, AHEAD + 5, started=False)
        slot = await scene.execution(claim)
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.WITHDRAWN)

    async def test_given_up_it_waits_again_if_the_new_definition_fires_then(
        self, scene: Scene
    ) -> None:
        job, claim = await self._held_for_its_instant(scene)
        await scene.change(job, edit(replace(job, payload="new")), AHEAD + 1)
        await scene.finish(claim, OutcomeKind.CANCELLED, AHEAD + 5, started=False)
        slot = await scene.execution(claim)
        assert (slot.state, slot.run_at, slot.job_version) == (State.WAITING, minute(1), 2)
        assert (slot.charged, slot.cancel_requested) == (0, False)
        await scene.fire(minute(1))
        await scene.promote(minute(1))
        again = await scene.claim_one(minute(1))
        assert (again.id, again.attempt, again.payload) == (claim.id, 2, "new")
        assert (again.charged, len(await scene.executions(job))) == (1, 1)

    async def test_one_that_started_all_the_same_counts(self, scene: Scene) -> None:
        job, claim = await self._held_for_its_instant(scene)
        await scene.change(job, edit(job), AHEAD + 1)
        await scene.succeed(claim, minute(1) + 1)
        assert (await scene.execution(claim)).state is State.SUCCEEDED

    async def test_one_that_had_started_when_it_gave_up_is_cancelled(self, scene: Scene) -> None:
        job, claim = await self._held_for_its_instant(scene)
        await scene.change(job, edit(job), AHEAD + 1)
        await scene.finish(claim, OutcomeKind.CANCELLED, minute(1) + 1)
        assert (await scene.execution(claim)).state is State.CANCELLED

    async def test_moved_to_another_queue_it_is_in_the_old_one_no_more(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.change(job, edit(replace(job, queue="slow")), T0)
        assert await scene.claim(T0) == []
        assert (await scene.store.next_wakeup(T0 - 1, ["default"])).run is None
        assert (await scene.store.next_wakeup(T0 - 1, ["slow"])).run == T0
        assert len(await scene.claim(T0, queues=("default", "slow"))) == 1

    async def test_what_is_running_is_left_alone(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        changed = await scene.change(job, edit(job), minute(1))
        assert changed.cancelling == 0
        assert (await scene.execution(claim)).job_version == 1

    async def test_a_retry_held_for_its_instant_is_left_alone(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.finish(claim, OutcomeKind.SNOOZED, minute(1), delay=MINUTE)
        await scene.promote(minute(2) - SECOND, horizon=SECOND)
        await scene.claim_one(minute(2) - SECOND, lead=SECOND)
        changed = await scene.change(job, edit(job), minute(2) - SECOND)
        assert changed.cancelling == 0


class Changing(Topic):
    """`change_jobs`."""

    async def test_an_edit_is_the_next_version_and_keeps_the_one_before(self, scene: Scene) -> None:
        job = await scene.job("a", payload=1)
        changed = await scene.change(job, edit(replace(job, payload=2), 1), T0 + 5)
        assert (changed.entry.job.version, changed.entry.job.payload) == (2, 2)
        assert changed.entry.job.saved_at == T0 + 5
        [found] = await scene.store.get_jobs("default", [job.id])
        assert found == changed.entry
        [record] = await scene.store.list_records("job_version", "default", f"{job.id}/", T0)
        assert record.key == f"{job.id}/00000001"
        assert job_from_document(record.document) == job

    async def test_an_edit_of_another_version_is_refused(self, scene: Scene) -> None:
        job = await scene.job("a")
        await scene.change(job, edit(job), T0)
        before = await snapshot(scene.store, T0)
        with pytest.raises(VersionConflict):
            await scene.change(job, edit(job, 1), T0)
        assert await snapshot(scene.store, T0) == before

    async def test_a_new_name_must_be_free(self, scene: Scene) -> None:
        a, _ = await scene.job("a"), await scene.job("b")
        before = await snapshot(scene.store, T0)
        with pytest.raises(JobExists):
            await scene.change(a, edit(replace(a, name="b")), T0)
        assert await snapshot(scene.store, T0) == before
        await scene.change(a, edit(replace(a, name="c")), T0)
        [found] = await scene.store.get_jobs("default", ["a", "c"])
        assert found.job.name == "c"
        await scene.job("a")

    async def test_unknown_jobs_and_those_of_others_are_not_found(self, scene: Scene) -> None:
        job = await scene.job("a", project="mine")
        with pytest.raises(NotFound):
            await scene.store.change_jobs("mine", ["nobody"], delete(), T0)
        with pytest.raises(NotFound):
            await scene.store.change_jobs("yours", [job.id], delete(), T0)
        assert (await scene.cursor(job)).state is JobState.ACTIVE

    async def test_several_are_changed_in_order_up_to_the_error(self, scene: Scene) -> None:
        a, b, c = [await scene.job() for _ in range(3)]
        await scene.change(b, delete(), T0)
        with pytest.raises(WrongState):
            await scene.store.change_jobs("default", [a.id, b.id, c.id], pause("ann", "x"), T0)
        states = [(await scene.cursor(job)).state for job in (a, b, c)]
        assert states == [JobState.PAUSED, JobState.DELETED, JobState.ACTIVE]
        changed = await scene.store.change_jobs("default", [c.id, a.id], delete(), T0)
        assert [one.entry.job.id for one in changed] == [c.id, a.id]

    async def test_no_change_changes_nothing(self, scene: Scene) -> None:
        job = await scene.job()
        before = await snapshot(scene.store, T0)

        def nothing(entry: Entry, now: int) -> Change | None:
            assert (entry.job, now) == (job, T0)
            return None

        changed = await scene.change(job, nothing, T0)
        assert (changed.entry.job, changed.withdrawn, changed.cancelling) == (job, 0, 0)
        assert await snapshot(scene.store, T0) == before

    async def test_the_error_of_a_changer_is_raised_and_nothing_changed(self, scene: Scene) -> None:
        job = await scene.job()
        before = await snapshot(scene.store, T0)

        def fails(entry: Entry, now: int) -> Change | None:
            raise ZeroDivisionError(entry, now)

        with pytest.raises(ZeroDivisionError):
            await scene.change(job, fails, T0)
        assert await snapshot(scene.store, T0) == before

    async def test_what_was_due_is_answered_by_the_definition_before(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        await scene.change(job, edit(replace(job, trigger=Every("1h"))), minute(3) + 5 * SECOND)
        assert await scene.fire_times(job) == [minute(3)]
        [skip] = await scene.skips(job)
        assert (skip.first, skip.last, skip.count) == (minute(1), minute(2), 2)
        assert (await scene.cursor(job)).next_fire_time == minute(60)


#: Fires at minutes 1 and 2 are planned ahead, then everything stands still.
FAR_HORIZON = 2 * MINUTE


async def planned_ahead(scene: Scene, **fields: Any) -> Job:
    """A job whose next two fires are planned."""
    job = await scene.job(**fields)
    await scene.fire(T0, horizon=FAR_HORIZON)
    return job


async def call_back(scene: Scene, job: Job, fires: Sequence[int], now: int) -> Changed:
    """Recall these fires."""
    return await scene.change(job, recall([minute(n) for n in fires]), now)


async def fire_after_absence(scene: Scene, now: int) -> None:
    """Fire as a planner does whose process was away."""
    await scene.store.fire_due(
        now, 0, 1000, lambda job, cursor: plan(job, cursor, now, 0, Absence())
    )


class Recalling(Topic):
    """`change_jobs` with `domain.change.recall`, and the `fire_due` after it."""

    async def test_recalled_fires_are_misfires(self, scene: Scene) -> None:
        job = await planned_ahead(scene, misfire=Misfire(policy=OnMisfire.SKIP))
        changed = await call_back(scene, job, [1, 2], minute(9))
        assert changed.withdrawn == 2
        await scene.fire(minute(9) + 30_000)
        rows = await scene.executions(job)
        assert [(row.state, row.reason) for row in rows] == [(State.SKIPPED, Reason.MISFIRE)] * 2
        # Each fire time is counted once: by its row, or by the range.
        counted = {(skip.first, skip.last): skip.count for skip in await scene.skips(job)}
        assert counted == {(minute(1), minute(2)): 0, (minute(3), minute(9)): 7}
        assert await scene.claim(minute(10)) == []

    async def test_the_policy_arms_the_newest_again(self, scene: Scene) -> None:
        job = await planned_ahead(scene, trigger=Every("1m", until=to_datetime(minute(2))))
        await call_back(scene, job, [1, 2], minute(9))
        await scene.fire(minute(9))
        claim = await scene.claim_one(minute(9))
        assert (claim.fire_time, claim.attempt) == (minute(2), 1)
        assert await scene.fire_times(job, State.SKIPPED) == [minute(1)]
        await scene.succeed(claim, minute(10))
        assert (await scene.at(job, minute(2))).state is State.SUCCEEDED

    async def test_a_fire_that_was_claimed_and_given_back_is_recalled(self, scene: Scene) -> None:
        job = await planned_ahead(scene, trigger=Once(to_datetime(minute(1))))
        claim = await scene.claim_one(minute(1))
        await scene.finish(claim, OutcomeKind.RELEASED, minute(1), started=False)
        assert (await call_back(scene, job, [1], minute(9))).withdrawn == 1
        assert (await scene.cursor(job)).state is JobState.ACTIVE
        await scene.fire(minute(9))
        again = await scene.claim_one(minute(9))
        assert (again.id, again.attempt, again.charged) == (claim.id, 2, 1)

    async def test_what_is_claimed_stays(self, scene: Scene) -> None:
        job = await planned_ahead(scene, overlap=Overlap.ALLOW)
        claim = await scene.claim_one(minute(1))
        assert (await call_back(scene, job, [1, 2], minute(9))).withdrawn == 1
        await scene.fire(minute(9))
        assert not (await scene.succeed(claim, minute(9))).refused
        assert (await scene.execution(claim)).state is State.SUCCEEDED

    async def test_what_ran_in_between_is_counted_by_no_range(self, scene: Scene) -> None:
        skip = Misfire(policy=OnMisfire.SKIP)
        job = await planned_ahead(scene, overlap=Overlap.ALLOW, misfire=skip)
        first, second = await scene.claim(minute(2), limit=2)
        await scene.finish(first, OutcomeKind.RELEASED, minute(2), started=False)
        await scene.succeed(second, minute(2))
        assert (await call_back(scene, job, [1], minute(9))).withdrawn == 1
        await scene.fire(minute(9) + 30_000)
        assert sum(skip.count for skip in await scene.skips(job)) == 7
        assert (await scene.execution(second)).state is State.SUCCEEDED

    async def test_what_was_tried_meanwhile_stays(self, scene: Scene) -> None:
        job = await planned_ahead(scene, trigger=Once(to_datetime(minute(1))))
        claim = await scene.claim_one(minute(1))
        await scene.fail(claim, minute(1))
        assert (await call_back(scene, job, [1], minute(9))).withdrawn == 0
        assert (await scene.execution(claim)).state is State.WAITING

    async def test_what_was_armed_again_stays(self, scene: Scene) -> None:
        job = await planned_ahead(scene)
        await call_back(scene, job, [1, 2], minute(2))
        await fire_after_absence(scene, minute(2))
        armed = await scene.fire_times(job, State.QUEUED, State.BLOCKED)
        assert armed[-1:] == [minute(2)]
        assert (await call_back(scene, job, [1, 2], minute(2) + 1)).withdrawn == 0
        await scene.fire(minute(2) + 1)  # as a planner does whose process was there
        assert await scene.fire_times(job, State.QUEUED, State.BLOCKED) == armed

    async def test_other_fires_stay_in_line(self, scene: Scene) -> None:
        job = await planned_ahead(scene, overlap=Overlap.QUEUE_ALL)
        await scene.promote(minute(2))
        assert (await call_back(scene, job, [1], minute(2))).withdrawn == 1
        claim = await scene.claim_one(minute(2))
        assert claim.fire_time == minute(2)

    async def test_places_in_concurrency_gates_go_to_the_next(self, scene: Scene) -> None:
        limit = Concurrency("k", 1)
        job = await planned_ahead(scene, concurrency=limit, trigger=Once(to_datetime(minute(1))))
        other = await planned_ahead(scene, concurrency=limit, trigger=Once(to_datetime(minute(2))))
        await call_back(scene, job, [1], minute(2))
        claim = await scene.claim_one(minute(2))
        assert claim.job.id == other.id

    async def test_a_recalled_fire_does_not_count(self, scene: Scene) -> None:
        trigger = Every("1m", max_runs=2)
        skip = Misfire(policy=OnMisfire.SKIP)
        job = await planned_ahead(scene, trigger=trigger, misfire=skip, overlap=Overlap.ALLOW)
        assert (await scene.cursor(job)).runs == 2
        await call_back(scene, job, [1, 2], minute(9) + 30_000)
        assert (await scene.cursor(job)).runs == 0
        await scene.fire(minute(9) + 30_000, horizon=FAR_HORIZON)
        assert await scene.fire_times(job, State.WAITING, State.QUEUED) == [minute(10), minute(11)]
        assert (await scene.cursor(job)).state is JobState.FINISHED

    @pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
    async def test_fires_within_the_grace_wait_for_each_other(
        self, scene: Scene, overlap: Overlap
    ) -> None:
        grace = Misfire(policy=OnMisfire.SKIP, grace="1h")
        job = await planned_ahead(scene, overlap=overlap, misfire=grace)
        now = minute(4)
        await call_back(scene, job, [1, 2], now)
        await fire_after_absence(scene, now)
        for number in range(1, 5):
            claim = await scene.claim_one(now)
            assert claim.fire_time == minute(number)
            await scene.succeed(claim, now)
        assert await scene.fire_times(job, State.SKIPPED) == []

    @pytest.mark.parametrize("changer", [pause(by="ann", why="holiday"), delete()])
    async def test_a_job_that_is_paused_or_deleted_stays_as_it_is(
        self, scene: Scene, changer: Changer
    ) -> None:
        job = await planned_ahead(scene)
        await scene.change(job, changer, T0)
        before = await scene.cursor(job)
        assert (await call_back(scene, job, [1, 2], minute(9))).entry.cursor == before

    async def test_recalling_twice_is_recalling_once(self, scene: Scene) -> None:
        job = await planned_ahead(scene)
        await call_back(scene, job, [1, 2], minute(9))
        once = await snapshot(scene.store, minute(9))
        assert (await call_back(scene, job, [1, 2], minute(9))).withdrawn == 0
        assert await snapshot(scene.store, minute(9)) == once

    async def test_what_was_planned_again_is_not_recalled_again(self, scene: Scene) -> None:
        """Two processes come back from one absence; the second is slow to say what it found."""
        job = await planned_ahead(scene, misfire=Misfire(policy=OnMisfire.SKIP))
        await call_back(scene, job, [1, 2], minute(9))
        await scene.fire(minute(9) + 30_000)
        planned = await snapshot(scene.store, minute(9))
        assert (await call_back(scene, job, [1, 2], minute(10))).withdrawn == 0
        assert await snapshot(scene.store, minute(9)) == planned

    async def test_what_was_armed_again_between_others_is_not_recalled_again(
        self, scene: Scene
    ) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        await scene.fire(T0, horizon=3 * MINUTE)
        await call_back(scene, job, [2], minute(2))
        await scene.fire(minute(2))
        assert (await call_back(scene, job, [1, 2, 3], minute(4))).withdrawn == 2
        assert await scene.fire_times(job, State.QUEUED) == [minute(2)]

    async def test_what_was_planned_ahead_is_not_counted_as_missed(self, scene: Scene) -> None:
        skip = Misfire(policy=OnMisfire.SKIP, grace="0s")
        job = await planned_ahead(scene, misfire=skip, overlap=Overlap.ALLOW)
        await call_back(scene, job, [1], minute(1) + 1)
        await scene.fire(minute(4) + 1)  # too late for minute 2, which has its row
        counted = {(skip.first, skip.last): skip.count for skip in await scene.skips(job)}
        assert [at for at, count in counted.items() if count] == [(minute(3), minute(4))]
        # It can still be recalled.
        assert (await call_back(scene, job, [2], minute(5))).withdrawn == 1
