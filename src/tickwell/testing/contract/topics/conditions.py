"""Ends of attempts that never started, since the job's condition answered no."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tickwell.domain.change import edit
from tickwell.domain.execution import Claim, OutcomeKind, Reason, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import SECOND
from tickwell.domain.trigger import Every, OnDemand
from tickwell.testing.contract.builders import a_backfill, a_request, minute
from tickwell.testing.contract.scene import Scene, report
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic

_SKIPPED = OutcomeKind.SKIPPED


async def _fired(scene: Scene, **fields: Any) -> tuple[Job, Claim]:
    job = await scene.job(**fields)
    await scene.fire(minute(1))
    return job, await scene.claim_one(minute(1))


async def _skip(scene: Scene, claim: Claim, now: int) -> None:
    assert (await scene.finish(claim, _SKIPPED, now, started=False)).refused == []


class Conditions(Topic):
    """A claimed fire is skipped: as if it had been skipped before it was claimed."""

    @pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.ALLOW])
    async def test_a_no_is_a_skip_and_no_attempt(self, scene: Scene, overlap: Overlap) -> None:
        job, claim = await _fired(scene, overlap=overlap)
        await _skip(scene, claim, minute(1) + 5)
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.CONDITION)
        assert (slot.started_at, slot.ended_at) == (None, minute(1) + 5)
        assert (slot.charged, slot.lost, slot.returned, slot.error) == (0, 0, 0, None)
        assert slot.attempts == []
        assert (await scene.store.stats())[State.SKIPPED] == 1

    async def test_a_no_after_an_attempt_that_was_put_off_shows_only_that(
        self, scene: Scene
    ) -> None:
        job, claim = await _fired(scene)
        await scene.finish(claim, OutcomeKind.RELEASED, minute(1), started=False)
        await _skip(scene, await scene.claim_one(minute(1) + 1), minute(1) + 2)
        slot = await scene.at(job, minute(1))
        assert [each.outcome for each in slot.attempts] == [OutcomeKind.RELEASED]

    async def test_a_repeated_no_changes_nothing(self, scene: Scene) -> None:
        _, claim = await _fired(scene, trigger=Every("1m", max_runs=5), pause_after=3)
        answer = report(claim, _SKIPPED, minute(1), started=False)
        await scene.store.finish([answer], minute(1))
        before = await snapshot(scene.store, minute(1) + 1)
        again = await scene.store.finish([answer, answer], minute(1) + 1)
        assert again.refused == []
        assert await snapshot(scene.store, minute(1) + 1) == before

    @pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.ALLOW])
    async def test_it_does_not_count_as_a_run(self, scene: Scene, overlap: Overlap) -> None:
        job, claim = await _fired(scene, trigger=Every("1m", max_runs=1), overlap=overlap)
        await _skip(scene, claim, minute(1))
        assert (await scene.cursor(job)).runs == 0
        await scene.fire(minute(1) + 1)
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.SKIPPED, State.QUEUED]

    async def test_it_leaves_the_failures_in_a_row_as_they_are(self, scene: Scene) -> None:
        job, claim = await _fired(scene, pause_after=3, retry=1)
        await scene.fail(claim, minute(1))
        await scene.fire(minute(2))
        claim = await scene.claim_one(minute(2))
        answer = report(claim, _SKIPPED, minute(2), started=False)
        assert (await scene.store.finish([answer], minute(2))).failures == {job.id: 1}
        assert (await scene.cursor(job)).failures == 1

    async def test_an_after_finish_job_counts_from_it(self, scene: Scene) -> None:
        job, claim = await _fired(scene, trigger=Every("1m", after="finish"))
        end = minute(1) + 7 * SECOND
        await _skip(scene, claim, end)
        await scene.fire(end)
        assert (await scene.cursor(job)).next_fire_time == end + 60 * SECOND

    async def test_the_permit_of_the_job_passes_on(self, scene: Scene) -> None:
        job, claim = await _fired(scene, overlap=Overlap.QUEUE_ALL)
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.RUNNING, State.BLOCKED]
        await _skip(scene, claim, minute(2))
        assert await scene.states(job) == [State.SKIPPED, State.QUEUED]

    async def test_the_permit_of_a_key_passes_on(self, scene: Scene) -> None:
        narrow = Concurrency(key="narrow", limit=1)
        _, claim = await _fired(scene, concurrency=narrow, trigger=Every("1m", max_runs=9))
        other = await scene.job(concurrency=narrow, trigger=OnDemand())
        [id] = await scene.run(a_request(other, minute(1)), now=minute(1))
        assert (await scene.execution(id)).state is State.BLOCKED
        await _skip(scene, claim, minute(1) + 1)
        assert (await scene.execution(id)).state is State.QUEUED

    async def test_the_permit_of_a_rate_is_unused(self, scene: Scene) -> None:
        rate: dict[str, Any] = {"rate": "1/1h", "rate_key": "k"}
        _, claim = await _fired(scene, **rate)
        other = await scene.job(trigger=OnDemand(), **rate)
        [id] = await scene.run(a_request(other, minute(1)), now=minute(1))
        assert (await scene.execution(id)).state is State.BLOCKED
        await _skip(scene, claim, minute(1) + 1)
        assert (await scene.execution(id)).state is State.QUEUED

    async def test_what_an_edit_took_back_is_withdrawn(self, scene: Scene) -> None:
        ahead = minute(1) - 2 * SECOND
        job = await scene.job()
        await scene.fire(ahead, horizon=2 * SECOND)
        claim = await scene.claim_one(ahead, lead=2 * SECOND)
        await scene.change(job, edit(replace(job, trigger=Every("7m"))), ahead + 1)
        await _skip(scene, claim, minute(1))
        slot = await scene.execution(claim)
        assert (slot.state, slot.reason) == (State.SKIPPED, Reason.WITHDRAWN)

    async def test_a_backfill_arms_the_slot_again(self, scene: Scene) -> None:
        job, claim = await _fired(scene)
        await _skip(scene, claim, minute(1))
        await scene.run(a_backfill(job, minute(1)), now=minute(5))
        again = await scene.claim_one(minute(5))
        assert (again.id, again.attempt, again.charged) == (claim.id, 2, 1)
        await scene.succeed(again, minute(5) + 1)
        slot = await scene.at(job, minute(1))
        assert (slot.state, slot.reason) == (State.SUCCEEDED, None)
        assert [(each.number, each.outcome) for each in slot.attempts] == [
            (2, OutcomeKind.SUCCEEDED)
        ]

    async def test_a_stale_no_is_refused(self, scene: Scene) -> None:
        _, claim = await _fired(scene)
        await scene.finish(claim, OutcomeKind.LOST, minute(1), delay=0)
        await scene.claim_one(minute(1))
        late = report(claim, _SKIPPED, minute(1) + 1, started=False)
        assert (await scene.store.finish([late], minute(1) + 1)).refused == [late]
        assert (await scene.execution(claim)).state is State.RUNNING

    async def test_no_and_success_in_one_batch_end_each_its_own(self, scene: Scene) -> None:
        jobs = [await scene.job(overlap=Overlap.ALLOW) for _ in range(4)]
        await scene.fire(minute(1))
        claims = await scene.claim(minute(1))
        kinds = [_SKIPPED, OutcomeKind.SUCCEEDED] * 2
        reports = [
            report(claim, kind, minute(1), started=kind is not _SKIPPED)
            for claim, kind in zip(claims, kinds, strict=True)
        ]
        assert (await scene.store.finish(reports, minute(1))).refused == []
        states = [(await scene.execution(claim)).state for claim in claims]
        assert states == [State.SKIPPED, State.SUCCEEDED] * 2
        assert len(jobs) == len(claims)
