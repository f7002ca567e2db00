"""Pausing, resuming, deleting: what they do to executions in the same write."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import OutcomeKind, RangeSkip, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import JobState
from tickwell.domain.policy import MINUTE, SECOND, Misfire, OnMisfire
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import WrongState
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic

#: Two seconds before the first fire, and fired ahead.
AHEAD = minute(1) - 2 * SECOND


def counted(skips: Sequence[RangeSkip]) -> list[tuple[int, int, int]]:
    """First, last and number of what the ranges count; notes count nothing."""
    return [(one.first, one.last, one.count) for one in skips if one.count]


class Pausing(Topic):
    """What a pause, its end, and a deletion do to executions."""

    async def test_fires_are_withdrawn_and_retries_and_requests_are_held(
        self, scene: Scene
    ) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.finish(claim, OutcomeKind.SNOOZED, minute(1), delay=MINUTE)
        [request] = await scene.run(a_request(job, minute(2)), now=minute(2))
        await scene.fire(minute(2))
        changed = await scene.change(job, pause("ann", "holiday"), minute(2))
        assert (changed.withdrawn, changed.cancelling) == (1, 0)
        cursor = changed.entry.cursor
        assert (cursor.state, cursor.next_fire_time) == (JobState.PAUSED, None)
        assert cursor.pause is not None
        assert (cursor.pause.by, cursor.pause.why) == ("ann", "holiday")
        assert (cursor.pause.since, cursor.pause.until) == (minute(2), None)
        assert (await scene.at(job, minute(2))).reason == Reason.WITHDRAWN
        await scene.promote(minute(600))
        assert await scene.claim(minute(600)) == []
        await scene.change(job, resume(), minute(600))
        await scene.promote(minute(600))
        released = await scene.claim(minute(600))
        assert {one.id for one in released} == {claim.id, request}
        assert {one.run_at for one in released} == {minute(600)}

    async def test_pausing_and_deleting_again_change_nothing_more(self, scene: Scene) -> None:
        job = await scene.job()
        [id] = await scene.run(a_request(job, T0))
        await scene.change(job, pause("ann", "holiday"), T0)
        held = await scene.execution(id)
        await scene.change(job, pause("ann", "holiday"), T0)
        assert await scene.execution(id) == held
        await scene.change(job, delete(), T0)
        before = await snapshot(scene.store, T0)
        await scene.change(job, delete(), T0)
        assert await snapshot(scene.store, T0) == before

    async def test_what_a_pause_passed_over_is_one_range(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.change(job, pause("ann", "holiday"), T0)
        await scene.change(job, resume(), minute(5))
        await scene.fire(minute(5))
        [skip] = await scene.skips(job)
        assert (skip.first, skip.last, skip.count) == (minute(1), minute(5), 5)
        assert skip.reason == Reason.PAUSED
        await scene.fire(minute(6))
        assert await scene.fire_times(job) == [minute(6)]

    async def test_what_is_held_for_its_instant_is_withdrawn_and_armed_by_an_early_resume(
        self, scene: Scene
    ) -> None:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        claim = await scene.claim_one(AHEAD, lead=2 * SECOND)
        changed = await scene.change(job, pause("ann", "wait"), AHEAD + 1)
        assert changed.cancelling == 1
        await scene.finish(claim, OutcomeKind.CANCELLED, AHEAD + 2, started=False)
        slot = await scene.execution(claim)
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.WITHDRAWN)
        await scene.change(job, resume(), AHEAD + 3)
        await scene.fire(AHEAD + 3, horizon=2 * SECOND)
        slot = await scene.execution(claim)
        assert (slot.state, slot.attempt) == (State.QUEUED, 1)
        again = await scene.claim_one(minute(1))
        assert (again.attempt, again.charged) == (2, 1)

    async def test_what_was_planned_ahead_is_in_no_range(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        await scene.change(job, pause("ann", "wait"), AHEAD + 1)
        await scene.change(job, resume(), minute(3))
        await scene.fire(minute(3))
        assert (await scene.at(job, minute(1))).reason == Reason.WITHDRAWN
        assert counted(await scene.skips(job)) == [(minute(2), minute(3), 2)]

    async def test_what_started_in_spite_of_the_pause_is_in_no_range(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        claim = await scene.claim_one(AHEAD, lead=2 * SECOND)
        await scene.change(job, pause("ann", "wait"), AHEAD + 1)
        await scene.succeed(claim, minute(1))
        await scene.change(job, resume(), minute(3))
        await scene.fire(minute(3))
        assert (await scene.at(job, minute(1))).state is State.SUCCEEDED
        assert counted(await scene.skips(job)) == [(minute(2), minute(3), 2)]

    async def test_no_range_counts_what_an_early_resume_armed_again(self, scene: Scene) -> None:
        job = await scene.job(misfire=Misfire(policy=OnMisfire.SKIP, grace="0s"))
        for _ in range(2):
            await scene.fire(AHEAD, horizon=2 * SECOND)
            await scene.change(job, pause("ann", "wait"), AHEAD + 1)
            await scene.change(job, resume(), AHEAD + 2)
        await scene.fire(AHEAD + 2, horizon=2 * SECOND)
        assert (await scene.at(job, minute(1))).state is State.QUEUED
        await scene.change(job, pause("ann", "wait"), minute(1))
        await scene.change(job, resume(), minute(3))
        await scene.fire(minute(4) + 1)
        assert counted(await scene.skips(job)) == [
            (minute(2), minute(3), 2),
            (minute(4), minute(4), 1),
        ]

    async def test_a_new_definition_answers_for_what_a_pause_withdrew(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        await scene.change(job, pause("ann", "wait"), AHEAD + 1)
        other = replace(job, trigger=Every("1m", phase="59s"))
        await scene.change(job, edit(other), AHEAD + 1)
        await scene.change(job, resume(), minute(2))
        await scene.fire(minute(2))
        passed = (minute(1) - SECOND, minute(2) - SECOND, 2)
        assert counted(await scene.skips(job)) == [passed]

    async def test_what_ended_during_the_pause_is_not_released(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        await scene.change(job, pause("ann", "wait"), T0)
        await scene.store.request_cancel("default", [id], T0)
        await scene.change(job, resume(), T0 + 1)
        assert (await scene.execution(id)).state is State.CANCELLED

    async def test_only_what_was_held_is_released(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.change(job, pause("ann", "wait"), T0)
        [later] = await scene.run(a_request(job, minute(5)))
        await scene.change(job, resume(), minute(6))
        assert (await scene.execution(later)).run_at == minute(5)

    async def test_what_is_released_queues_up_behind_what_was_due_before(
        self, scene: Scene
    ) -> None:
        job, other = await scene.job(trigger=OnDemand()), await scene.job(trigger=OnDemand())
        [held] = await scene.run(a_request(job, T0))
        await scene.change(job, pause("ann", "wait"), T0)
        [due] = await scene.run(a_request(other, minute(1)), now=minute(1))
        await scene.change(job, resume(), minute(2))
        await scene.promote(minute(2))
        claims = await scene.claim(minute(2))
        assert [claim.id for claim in claims] == [due, held]

    async def test_what_runs_since_its_instant_is_left_alone(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        changed = await scene.change(job, pause("ann", "wait"), minute(1))
        assert changed.cancelling == 0
        assert not (await scene.execution(claim)).cancel_requested
        await scene.succeed(claim, minute(2))
        assert (await scene.execution(claim)).state is State.SUCCEEDED

    async def test_only_a_paused_job_can_be_resumed(self, scene: Scene) -> None:
        job = await scene.job()
        with pytest.raises(WrongState):
            await scene.change(job, resume(), T0)

    async def test_deleting_ends_all_that_has_not_started(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.ALLOW)
        await scene.fire(minute(1))
        running = await scene.claim_one(minute(1))
        await scene.fire(minute(2))
        [request] = await scene.run(a_request(job, minute(3)), now=minute(2))
        changed = await scene.change(job, delete(), minute(2))
        assert changed.withdrawn == 1
        slot = await scene.at(job, minute(2))
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.WITHDRAWN)
        cancelled = await scene.execution(request)
        assert (cancelled.state, cancelled.reason) == (State.CANCELLED, "job deleted")
        assert (await scene.execution(running)).state is State.RUNNING
        await scene.succeed(running, minute(3))
        assert (await scene.execution(running)).state is State.SUCCEEDED
        assert (await scene.fire(minute(9))).jobs == 0

    async def test_deleting_asks_for_all_that_is_held_for_its_instant(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.fire(AHEAD, horizon=2 * SECOND)
        await scene.run(a_request(job, minute(1)), now=AHEAD, horizon=2 * SECOND)
        claims = await scene.claim(AHEAD, lead=2 * SECOND)
        changed = await scene.change(job, delete(), AHEAD)
        assert (len(claims), changed.cancelling) == (2, 2)
        await scene.finish(claims, OutcomeKind.CANCELLED, AHEAD, started=False)
        states = {(await scene.execution(claim)).state for claim in claims}
        assert states == {State.SKIPPED, State.CANCELLED}

    async def test_a_run_asked_for_during_a_pause_runs(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.change(job, pause("ann", "wait"), T0)
        await scene.run(a_request(job, T0))
        assert len(await scene.claim(T0)) == 1

    async def test_a_parked_run_waits_again_after_the_pause(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        await scene.settle([id], State.PARKED, T0)
        await scene.change(job, pause("ann", "wait"), T0)
        held = await scene.execution(id)
        assert (held.state, held.reason) == (State.WAITING, None)
        await scene.change(job, resume(), T0 + 1)
        await scene.promote(T0 + 1)
        assert (await scene.execution(id)).state is State.QUEUED
