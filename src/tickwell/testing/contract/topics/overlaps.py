"""The job's own gate: what becomes of a fire while another execution of its job is live."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tickwell.domain.execution import BY_NEWER_FIRE, Claim, OutcomeKind, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import MINUTE, Misfire, OnMisfire
from tickwell.ports.records import Ended, Promoted
from tickwell.testing.contract.builders import a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.topic import Topic


def ended_of(job: Job, state: State, count: int = 1) -> Ended:
    """So many of a job ended."""
    return Counter({(state, job.project, job.queue): count})


class Overlaps(Topic):
    """Overlap rules."""

    async def _busy(self, scene: Scene, overlap: Overlap, **fields: Any) -> tuple[Job, Claim]:
        """A job whose first fire is running."""
        job = await scene.job(overlap=overlap, **fields)
        await scene.fire(minute(1))
        return job, await scene.claim_one(minute(1))

    async def test_skip_leaves_out_what_comes_while_one_is_running(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.SKIP)
        await scene.fire(minute(2))
        skipped = await scene.at(job, minute(2))
        assert (skipped.state, skipped.reason) == (State.SKIPPED, Reason.OVERLAP)
        assert skipped.ended_at == minute(2)
        await scene.succeed(claim, minute(2) + 1)
        await scene.fire(minute(3))
        assert (await scene.at(job, minute(3))).state is State.QUEUED

    async def test_skip_counts_what_is_only_queued_as_live(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.SKIP)
        await scene.fire(minute(1))
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.QUEUED, State.SKIPPED]

    async def test_skip_counts_a_retry_that_waits_as_live(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.SKIP)
        await scene.finish(claim, OutcomeKind.SNOOZED, minute(1), delay=5 * MINUTE)
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.WAITING, State.SKIPPED]

    @pytest.mark.parametrize(
        "kind", [OutcomeKind.SUCCEEDED, OutcomeKind.FAILED, OutcomeKind.CANCELLED]
    )
    async def test_the_gate_is_free_after_any_end(self, scene: Scene, kind: OutcomeKind) -> None:
        job, claim = await self._busy(scene, Overlap.SKIP)
        await scene.finish(claim, kind, minute(1) + 1, retry=False)
        await scene.fire(minute(2))
        assert (await scene.at(job, minute(2))).state is State.QUEUED

    async def test_fired_ahead_its_instant_decides_and_not_before(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.SKIP)
        ahead = minute(2) - 2000
        await scene.fire(ahead, horizon=2000)
        assert (await scene.at(job, minute(2))).state is State.WAITING
        assert await scene.promote(minute(2) - 1, horizon=2000) == Promoted()
        assert (await scene.at(job, minute(2))).state is State.WAITING
        assert await scene.promote(minute(2), horizon=2000) == Promoted(
            skipped=1, ended=ended_of(job, State.SKIPPED)
        )
        assert (await scene.at(job, minute(2))).reason == Reason.OVERLAP
        await scene.succeed(claim, minute(2))

    async def test_fired_ahead_it_gets_the_permit_when_the_holder_ends(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.SKIP)
        await scene.fire(minute(2) - 2000, horizon=2000)
        await scene.succeed(claim, minute(2) - 1000)
        execution = await scene.at(job, minute(2))
        assert (execution.state, execution.run_at) == (State.QUEUED, minute(2))
        assert await scene.claim(minute(2) - 1) == []
        assert len(await scene.claim(minute(2))) == 1

    @pytest.mark.parametrize(
        "overlap", [Overlap.QUEUE_ONE, Overlap.QUEUE_ALL, Overlap.CANCEL_RUNNING]
    )
    async def test_fired_ahead_it_is_blocked_at_its_instant(
        self, scene: Scene, overlap: Overlap
    ) -> None:
        job, claim = await self._busy(scene, overlap)
        await scene.fire(minute(2) - 2000, horizon=2000)
        assert (await scene.at(job, minute(2))).state is State.WAITING
        assert not (await scene.execution(claim)).cancel_requested
        assert await scene.promote(minute(2), horizon=2000) == Promoted(blocked=1)
        assert (await scene.at(job, minute(2))).state is State.BLOCKED
        await scene.succeed(claim, minute(2) + 1)
        assert (await scene.at(job, minute(2))).state is State.QUEUED

    @pytest.mark.parametrize(("overlap", "skipped"), [(Overlap.SKIP, 3), (Overlap.QUEUE_ONE, 2)])
    async def test_what_is_skipped_at_a_busy_gate_is_told(
        self, scene: Scene, overlap: Overlap, skipped: int
    ) -> None:
        job = await scene.job(overlap=overlap, queue="mail")
        told = (await scene.fire(minute(1))).ended
        for number in (2, 3, 4):
            told += (await scene.fire(minute(number))).ended
        assert told == Counter({(State.SKIPPED, job.project, "mail"): skipped})

    async def test_all_fires_of_one_plan_that_end_are_told(self, scene: Scene) -> None:
        job, _ = await self._busy(scene, Overlap.QUEUE_ONE, misfire=Misfire(policy=OnMisfire.ALL))
        fired = await scene.fire(minute(5))
        assert await scene.fire_times(job, State.BLOCKED) == [minute(5)]
        assert fired.ended == ended_of(job, State.SKIPPED, 3)

    async def test_a_newer_fire_that_ends_one_before_it_started_is_told(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.CANCEL_RUNNING)
        assert (await scene.fire(minute(1))).ended == Counter()
        assert (await scene.fire(minute(2))).ended == ended_of(job, State.CANCELLED)

    async def test_promotion_tells_whose_place_a_newer_one_took(self, scene: Scene) -> None:
        job, _ = await self._busy(scene, Overlap.QUEUE_ONE)
        told = []
        for number in (2, 3):
            await scene.fire(minute(number) - 2000, horizon=2000)
            told.append((await scene.promote(minute(number), horizon=2000)).ended)
        assert told == [Counter(), ended_of(job, State.SKIPPED)]

    async def test_queue_one_fired_ahead_keeps_the_newest(self, scene: Scene) -> None:
        job, _ = await self._busy(scene, Overlap.QUEUE_ONE)
        for number in (2, 3):
            await scene.fire(minute(number) - 2000, horizon=2000)
            await scene.promote(minute(number), horizon=2000)
        assert await scene.states(job) == [State.RUNNING, State.SKIPPED, State.BLOCKED]

    async def test_queue_one_keeps_the_newest(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.QUEUE_ONE)
        for number in (2, 3, 4):
            await scene.fire(minute(number))
        assert await scene.fire_times(job, State.BLOCKED) == [minute(4)]
        assert await scene.fire_times(job, State.SKIPPED) == [minute(2), minute(3)]
        assert (await scene.at(job, minute(2))).reason == Reason.OVERLAP
        await scene.succeed(claim, minute(4) + 1)
        assert await scene.fire_times(job, State.QUEUED) == [minute(4)]

    async def test_queue_one_leaves_alone_what_is_not_due_yet(self, scene: Scene) -> None:
        job, _ = await self._busy(scene, Overlap.QUEUE_ONE)
        await scene.fire(minute(2) - 2000, horizon=MINUTE + 2000)
        await scene.promote(minute(2), horizon=MINUTE + 2000)
        assert await scene.states(job) == [State.RUNNING, State.BLOCKED, State.WAITING]

    async def test_queue_all_runs_all_in_order(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.QUEUE_ALL)
        for number in (2, 3, 4):
            await scene.fire(minute(number))
        assert await scene.fire_times(job, State.BLOCKED) == [minute(2), minute(3), minute(4)]
        order = []
        for number in range(3):
            now = minute(5) + number
            await scene.succeed(claim, now)
            claim = await scene.claim_one(now)
            order.append(claim.fire_time)
        assert order == [minute(2), minute(3), minute(4)]

    async def test_cancel_running_asks_the_old_and_lets_the_new_wait(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.CANCEL_RUNNING)
        await scene.fire(minute(2))
        assert (await scene.at(job, minute(2))).state is State.BLOCKED
        assert (await scene.execution(claim)).cancel_requested
        [owned] = (await scene.beat("w1", now=minute(2))).owned
        assert (owned.id, owned.cancel, owned.why) == (claim.id, True, BY_NEWER_FIRE)
        await scene.finish(claim, OutcomeKind.CANCELLED, minute(2) + 1, error=owned.why)
        ended = await scene.execution(claim)
        assert (ended.state, ended.reason) == (State.CANCELLED, BY_NEWER_FIRE)
        assert (await scene.at(job, minute(2))).state is State.QUEUED

    async def test_cancel_running_ends_what_has_not_started(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.CANCEL_RUNNING)
        await scene.fire(minute(1))
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.CANCELLED, State.QUEUED]
        assert (await scene.at(job, minute(1))).reason == BY_NEWER_FIRE

    async def test_cancel_running_ends_a_retry_that_waits(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.CANCEL_RUNNING)
        await scene.finish(claim, OutcomeKind.SNOOZED, minute(1), delay=5 * MINUTE)
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.CANCELLED, State.QUEUED]

    async def test_cancel_running_is_not_tried_again_when_it_fails_instead(
        self, scene: Scene
    ) -> None:
        job, claim = await self._busy(scene, Overlap.CANCEL_RUNNING)
        await scene.fire(minute(2))
        await scene.fail(claim, minute(2) + 1)
        assert await scene.states(job) == [State.CANCELLED, State.QUEUED]
        assert (await scene.execution(claim)).reason == BY_NEWER_FIRE

    async def test_cancel_running_says_nothing_of_one_that_succeeds_instead(
        self, scene: Scene
    ) -> None:
        _, claim = await self._busy(scene, Overlap.CANCEL_RUNNING)
        await scene.fire(minute(2))
        await scene.succeed(claim, minute(2) + 1)
        ended = await scene.execution(claim)
        assert (ended.state, ended.reason) == (State.SUCCEEDED, None)

    async def test_cancel_running_keeps_the_newest_waiting(self, scene: Scene) -> None:
        job, _ = await self._busy(scene, Overlap.CANCEL_RUNNING)
        await scene.fire(minute(2))
        await scene.fire(minute(3))
        assert await scene.states(job) == [State.RUNNING, State.SKIPPED, State.BLOCKED]

    async def test_allow_has_no_gate(self, scene: Scene) -> None:
        job, _ = await self._busy(scene, Overlap.ALLOW)
        await scene.fire(minute(2))
        await scene.fire(minute(3))
        assert await scene.states(job) == [State.RUNNING, State.QUEUED, State.QUEUED]

    async def test_a_requested_run_neither_waits_nor_stands_in_the_way(self, scene: Scene) -> None:
        job, _ = await self._busy(scene, Overlap.SKIP)
        await scene.run(a_request(job, minute(1)), now=minute(1))
        requested = await scene.claim_one(minute(1))
        await scene.succeed([requested], minute(1))
        await scene.fire(minute(2))
        assert await scene.fire_times(job, State.SKIPPED) == [minute(2)]

    async def test_a_requested_run_may_keep_to_the_rule(self, scene: Scene) -> None:
        job, claim = await self._busy(scene, Overlap.SKIP)
        polite = a_request(job, minute(1), overlap=Overlap.QUEUE_ALL)
        [id] = await scene.run(polite, now=minute(1))
        assert (await scene.execution(id)).state is State.BLOCKED
        await scene.succeed(claim, minute(1) + 1)
        assert (await scene.execution(id)).state is State.QUEUED

    async def test_jobs_have_gates_of_their_own(self, scene: Scene) -> None:
        await scene.job(overlap=Overlap.SKIP)
        await scene.job(overlap=Overlap.SKIP)
        await scene.fire(minute(1))
        assert await scene.states() == [State.QUEUED, State.QUEUED]

    async def test_a_revived_one_waits_its_turn_and_is_not_pushed_out(self, scene: Scene) -> None:
        job, first = await self._busy(scene, Overlap.QUEUE_ONE)
        await scene.fail(first, minute(1) + 1, retry=False)
        await scene.fire(minute(2))
        running = await scene.claim_one(minute(2))
        assert await scene.store.revive("default", [first.id], minute(2) + 1) == [first.id]
        assert (await scene.execution(first)).state is State.BLOCKED
        await scene.fire(minute(3))
        assert (await scene.execution(first)).state is State.BLOCKED
        assert (await scene.at(job, minute(3))).state is State.BLOCKED
        await scene.succeed(running, minute(3) + 1)
        assert (await scene.execution(first)).state is State.QUEUED
        assert (await scene.at(job, minute(3))).state is State.BLOCKED
