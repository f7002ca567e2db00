"""Permits whose holder is gone: passed on in one sweep, and never a reason to skip."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any

import pytest

from tickwell.domain.execution import Claim, OutcomeKind, Reason, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import Retry
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene, report
from tickwell.testing.contract.topic import Topic

WAITS = [Overlap.QUEUE_ONE, Overlap.QUEUE_ALL, Overlap.CANCEL_RUNNING]
#: Given up with its first loss.
FRAGILE = Retry(max_losses=1)
#: Back in the queue as soon as it is recovered.
AT_ONCE = Retry(delay="0s", jitter=0)

#: How the execution that holds the gate ends, at this instant.
Ending = Callable[[Scene, Claim, int], Awaitable[object]]


async def _lost(scene: Scene, claim: Claim, now: int) -> None:
    await scene.sweep(claim.worker, now)


async def _lost_after_a_cancel_request(scene: Scene, claim: Claim, now: int) -> None:
    await scene.store.request_cancel("default", [claim.id], now)
    await scene.sweep(claim.worker, now)


async def _given_back_and_cancelled(scene: Scene, claim: Claim, now: int) -> None:
    await scene.finish(claim, OutcomeKind.RELEASED, now, delay=0)
    assert await scene.settle([claim.id], State.CANCELLED, now) == [claim.id]


async def _past_its_deadline(scene: Scene, claim: Claim, now: int) -> None:
    [overdue] = await scene.store.orphans(claim.deadline + 1, 10)
    assert overdue == claim
    await scene.finish(overdue, OutcomeKind.LOST, now, started=False)


class _CutOff:
    """A call whose process is gone at its nth wait."""

    def __init__(self, call: Coroutine[Any, Any, Any], waits: int) -> None:
        self.call = call
        self.waits = waits
        self.was_cut = False

    def __await__(self) -> Generator[Any, None, None]:
        try:
            for _ in range(self.waits):
                yield self.call.send(None)
            waited = self.call.send(None)
            self.was_cut = True
            waited = self.call.throw(asyncio.CancelledError())
            while True:  # what it does about that
                yield waited
                waited = self.call.send(None)
        except (StopIteration, asyncio.CancelledError):
            return


class Leftovers(Topic):
    """Gates after their holder's worker was lost."""

    async def _held(self, scene: Scene, overlap: Overlap, retry: Retry) -> tuple[Job, Claim]:
        """A job with one execution that runs and one that is blocked by it."""
        job = await scene.job(overlap=overlap, retry=retry)
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1), "w1")
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.RUNNING, State.BLOCKED]
        return job, claim

    @pytest.mark.parametrize("overlap", WAITS)
    async def test_a_lost_holder_that_is_given_up_passes_its_permit_on(
        self, scene: Scene, other: Scene, overlap: Overlap
    ) -> None:
        job, _ = await self._held(scene, overlap, FRAGILE)
        await other.sweep("w1", minute(2) + 1)
        assert await scene.states(job) == [State.DEAD, State.QUEUED]
        second = await scene.claim_one(minute(2) + 1, "w2")
        assert second.fire_time == minute(2)
        await scene.fire(minute(3))
        assert await scene.states(job) == [State.DEAD, State.RUNNING, State.BLOCKED]
        await scene.succeed(second, minute(3) + 1)
        assert (await scene.claim_one(minute(3) + 1, "w2")).fire_time == minute(3)

    @pytest.mark.parametrize("overlap", WAITS)
    async def test_a_lost_holder_that_runs_again_keeps_its_permit(
        self, scene: Scene, other: Scene, overlap: Overlap
    ) -> None:
        job, first = await self._held(scene, overlap, AT_ONCE)
        # A newer fire has asked for its end: what was asked of a lost worker is not run again.
        asked = overlap is Overlap.CANCEL_RUNNING
        await other.sweep("w1", minute(2) + 1, delay=0)
        await other.promote(minute(2) + 1)
        if not asked:
            again = await scene.claim_one(minute(2) + 1, "w2")
            assert (again.id, again.attempt) == (first.id, 2)
            await scene.succeed(again, minute(2) + 2)
        assert (await scene.claim_one(minute(2) + 2, "w2")).fire_time == minute(2)
        ended = State.CANCELLED if asked else State.SUCCEEDED
        assert await scene.states(job) == [ended, State.RUNNING]

    async def test_permits_of_a_key_are_passed_on_to_as_many(
        self, scene: Scene, other: Scene
    ) -> None:
        limit = Concurrency("k", 2)
        jobs = [
            await scene.job(trigger=OnDemand(), concurrency=limit, retry=FRAGILE) for _ in range(2)
        ]
        await scene.run(*(a_request(jobs[n % 2], T0 + n) for n in range(6)), now=T0 + 6)
        assert len(await scene.claim(T0 + 6, "w1", limit=1)) == 1
        assert len(await scene.claim(T0 + 6, "w2", limit=1)) == 1
        await other.sweep("w1", T0 + 7)
        assert await self._count(scene, jobs) == {
            "dead": 1,
            "running": 1,
            "queued": 1,
            "blocked": 3,
        }
        await other.sweep("w2", T0 + 8)
        assert await self._count(scene, jobs) == {"dead": 2, "queued": 2, "blocked": 2}
        assert len(await scene.claim(T0 + 8, "w3")) == 2

    async def test_two_sweeps_at_once_pass_a_permit_on_once(
        self, scene: Scene, other: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand(), retry=FRAGILE)
        line = [a_request(job, T0 + n, overlap=Overlap.QUEUE_ALL) for n in range(3)]
        await scene.run(*line, now=T0 + 3)
        await scene.claim_one(T0 + 3, "w1")
        await asyncio.gather(scene.sweep("w1", T0 + 4), other.sweep("w1", T0 + 4))
        assert await scene.states(job) == [State.DEAD, State.QUEUED, State.BLOCKED]

    @pytest.mark.parametrize(
        "ends", [_lost, _lost_after_a_cancel_request, _given_back_and_cancelled, _past_its_deadline]
    )
    async def test_no_fire_is_skipped_once_its_holder_is_gone(
        self, scene: Scene, other: Scene, ends: Ending
    ) -> None:
        job = await scene.job(overlap=Overlap.SKIP, retry=FRAGILE)
        await scene.fire(minute(1))
        for number in range(1, 5):
            claim = await scene.claim_one(minute(number), f"w{number}")
            assert claim.fire_time == minute(number)
            await ends(other, claim, minute(number) + 1)
            await scene.fire(minute(number + 1))
            assert (await scene.at(job, minute(number + 1))).state is State.QUEUED
        assert Reason.OVERLAP not in {one.reason for one in await scene.executions(job)}

    async def test_one_held_for_its_instant_is_lost_with_its_permit_kept(
        self, scene: Scene, other: Scene
    ) -> None:
        """Its slot ran: the fire after it is skipped with reason, the one that follows is not."""
        job = await scene.job(overlap=Overlap.SKIP, retry=AT_ONCE)
        await scene.fire(minute(1) - 1000, horizon=1000)
        held = await scene.claim_one(minute(1) - 1000, "w1", lead=1000)
        await other.sweep("w1", minute(1) - 500, delay=500)
        await other.promote(minute(1))
        again = await scene.claim_one(minute(1), "w2")
        assert (again.id, again.attempt) == (held.id, 2)
        await scene.fire(minute(2))
        await scene.succeed(again, minute(2) + 1)
        await scene.fire(minute(3))
        states = [State.SUCCEEDED, State.SKIPPED, State.QUEUED]
        assert await scene.states(job) == states

    async def test_a_report_that_breaks_off_leaves_no_permit_behind(
        self, scene: Scene, other: Scene
    ) -> None:
        """Wherever its process is killed: between the end and passing on, too."""
        waits, was_cut = 0, True
        while was_cut:
            job = await scene.job(trigger=OnDemand(), retry=FRAGILE)
            line = [a_request(job, T0 + n, overlap=Overlap.QUEUE_ALL) for n in range(3)]
            await scene.run(*line, now=T0 + 3)
            worker = f"w{waits}"
            claim = await scene.claim_one(T0 + 3, worker)
            end = [report(claim, OutcomeKind.SUCCEEDED, T0 + 4)]
            cut = _CutOff(scene.store.finish(end, T0 + 4), waits)
            await cut
            await other.sweep(worker, T0 + 5)
            first, *others = await scene.states(job)
            assert first in {State.SUCCEEDED, State.DEAD}
            assert others == [State.QUEUED, State.BLOCKED]
            await self._empty(scene, job)
            waits, was_cut = waits + 1, cut.was_cut
        assert waits > 0

    async def _empty(self, scene: Scene, job: Job) -> None:
        pending = [one.id for one in await scene.executions(job)]
        await scene.settle(pending, State.CANCELLED, T0 + 6)

    async def _count(self, scene: Scene, jobs: list[Job]) -> dict[str, int]:
        found = [state for job in jobs for state in await scene.states(job)]
        return {state.value: found.count(state) for state in set(found)}
