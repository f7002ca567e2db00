"""Losses: every attempt that a worker took along is on record, whatever became of the job."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import Execution, OutcomeKind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import HOUR, Retry
from tickwell.testing.contract.builders import minute
from tickwell.testing.contract.scene import Scene, report
from tickwell.testing.contract.topic import Topic

#: Something that happens while a worker holds an attempt, at this instant.
Happening = Callable[[Scene, Job, int], Awaitable[object]]


async def _nothing(scene: Scene, job: Job, now: int) -> None:
    pass


async def _edit(scene: Scene, job: Job, now: int) -> None:
    [entry] = await scene.store.get_jobs(job.project, [job.id])
    await scene.change(job, edit(replace(entry.job, priority=9)), now)


async def _pause_and_resume(scene: Scene, job: Job, now: int) -> None:
    await scene.change(job, pause("ann", "why not"), now)
    await scene.change(job, resume(), now)


async def _delete(scene: Scene, job: Job, now: int) -> None:
    await scene.change(job, delete(), now)


async def _cancel(scene: Scene, job: Job, now: int) -> None:
    live = [one.id for one in await scene.executions(job)]
    await scene.store.request_cancel(job.project, live, now)


class Losses(Topic):
    """What `orphans` and `finish` leave of lost attempts."""

    @pytest.mark.parametrize("ahead", [True, False])
    @pytest.mark.parametrize("happens", [_nothing, _edit, _pause_and_resume, _delete, _cancel])
    async def test_every_attempt_is_on_record(
        self, scene: Scene, happens: Happening, *, ahead: bool
    ) -> None:
        retry = Retry(max_losses=2, delay="0s", jitter=0)
        job = await scene.job(overlap=Overlap.ALLOW, retry=retry)
        # Held for its instant, a change of the job calls it off; once it is due, not.
        at = minute(1) - 500 if ahead else minute(1) + 500
        await scene.fire(minute(1) - 1000, horizon=2000)
        claims = await scene.claim(at - 100, "w0", lead=2000)
        assert len(claims) == 1
        await happens(scene, job, at)
        now, started = minute(1) + 1000, [1]
        one = await self._lose_all(scene, job, "w0", now)
        for worker in ("w1", "w2", "w3"):
            now += HOUR
            if one.state is State.DEAD:
                await scene.store.revive(job.project, [one.id], now)
            await scene.promote(now)
            started += [claim.attempt for claim in await scene.claim(now, worker, ids=(one.id,))]
            one = await self._lose_all(scene, job, worker, now)
        recorded = [attempt.number for attempt in one.attempts]
        assert recorded == started == [*range(1, one.attempt + 1)]
        assert {attempt.outcome for attempt in one.attempts} == {OutcomeKind.LOST}

    async def _lose_all(self, scene: Scene, job: Job, worker: str, now: int) -> Execution:
        """Declare the worker lost and recover what it held, as a reaper does."""
        known = {one.worker.id: one.beat for one in await scene.store.list_workers()}
        assert await scene.store.declare_lost(worker, known.get(worker, 0), now)
        orphans = await scene.store.orphans(now, 100)
        reports = [report(claim, OutcomeKind.LOST, now, started=False) for claim in orphans]
        assert (await scene.store.finish(reports, now)).refused == []
        return await scene.at(job, minute(1))
