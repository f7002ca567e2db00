"""Ending attempts: fenced, retried, counted, and followed by the next fire."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import Attempt, Claim, OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job, JobState
from tickwell.domain.outcome import Report
from tickwell.domain.policy import MINUTE, SECOND, Backoff, Retry
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene, report
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic

_RETRY = Retry(max_attempts=2, backoff=Backoff.FIXED, delay="1m", jitter=0)


async def _running(scene: Scene, **fields: Any) -> tuple[Job, Claim]:
    job = await scene.job(**{"trigger": OnDemand(), "retry": _RETRY, **fields})
    await scene.run(a_request(job, T0))
    return job, await scene.claim_one(T0)


class Finishing(Topic):
    """`finish`, one attempt at a time."""

    async def test_success_is_recorded(self, scene: Scene) -> None:
        _, claim = await _running(scene)
        answer = report(claim, OutcomeKind.SUCCEEDED, T0 + 9, result={"sent": [1]})
        finished = await scene.store.finish([answer], T0 + 10)
        assert (finished.refused, finished.failures) == ([], {})
        execution = await scene.execution(claim)
        assert (execution.state, execution.reason, execution.error) == (State.SUCCEEDED, None, None)
        assert execution.result == {"sent": [1]}
        assert (execution.started_at, execution.ended_at) == (T0, T0 + 9)
        assert (execution.attempt, execution.charged, execution.deadline) == (1, 1, None)
        assert execution.worker == "w1"
        assert execution.attempts == [
            Attempt(
                number=1,
                outcome=OutcomeKind.SUCCEEDED,
                worker="w1",
                started_at=T0,
                ended_at=T0 + 9,
                result={"sent": [1]},
            )
        ]

    async def test_a_failed_attempt_is_followed_by_another(self, scene: Scene) -> None:
        _, claim = await _running(scene)
        await scene.fail(claim, T0 + 5, error="no luck")
        execution = await scene.execution(claim)
        assert (execution.state, execution.run_at) == (State.WAITING, T0 + 5 + MINUTE)
        assert (execution.attempt, execution.charged, execution.worker) == (1, 1, None)
        assert (execution.error, execution.deadline, execution.ended_at) == ("no luck", None, None)
        await scene.promote(minute(2))
        second = await scene.claim_one(minute(2), "w2")
        assert (second.id, second.attempt, second.charged) == (claim.id, 2, 2)
        assert second.fire_time == T0
        await scene.fail(second, minute(3), error="again")
        execution = await scene.execution(claim)
        assert (execution.state, execution.reason) == (State.DEAD, "2 of 2 attempts")
        assert execution.ended_at == minute(3)
        tries = [(one.number, one.outcome, one.worker, one.error) for one in execution.attempts]
        assert tries == [
            (1, OutcomeKind.FAILED, "w1", "no luck"),
            (2, OutcomeKind.FAILED, "w2", "again"),
        ]

    async def test_the_start_is_that_of_the_last_attempt_or_none(self, scene: Scene) -> None:
        _, claim = await _running(scene)
        await scene.fail(claim, T0 + 5)
        await scene.promote(minute(2))
        second = await scene.claim_one(minute(2))
        await scene.finish(second, OutcomeKind.FAILED, minute(3), started=False)
        execution = await scene.execution(claim)
        assert (execution.state, execution.started_at) == (State.DEAD, None)

    async def test_a_retry_that_is_due_is_queued_at_once(self, scene: Scene) -> None:
        _, claim = await _running(scene)
        await scene.finish(claim, OutcomeKind.RELEASED, T0 + 5)
        execution = await scene.execution(claim)
        assert (execution.state, execution.run_at) == (State.QUEUED, T0 + 5)
        assert (execution.attempt, execution.charged, execution.returned) == (1, 0, 1)
        assert (await scene.claim_one(T0 + 5)).attempt == 2

    @pytest.mark.parametrize("gate", [None, Concurrency(key="narrow", limit=1)])
    async def test_of_attempts_put_off_in_a_row_the_newest_stays(
        self, scene: Scene, gate: Concurrency | None
    ) -> None:
        _, claim = await _running(scene, concurrency=gate)
        await scene.finish(claim, OutcomeKind.RELEASED, T0 + 1, started=False)
        await scene.fail(await scene.claim_one(T0 + 2), T0 + 5)
        await scene.promote(minute(2))
        for n in range(3):
            again = await scene.claim_one(minute(2) + n)
            await scene.finish(again, OutcomeKind.RELEASED, minute(2) + n, started=False)
        await scene.finish(await scene.claim_one(minute(3)), OutcomeKind.SUCCEEDED, minute(3))
        execution = await scene.execution(claim)
        assert [(each.number, each.outcome) for each in execution.attempts] == [
            (1, OutcomeKind.RELEASED),
            (2, OutcomeKind.FAILED),
            (5, OutcomeKind.RELEASED),
            (6, OutcomeKind.SUCCEEDED),
        ]
        assert (execution.attempt, execution.charged) == (6, 2)

    async def test_a_lost_attempt_is_counted_apart(self, scene: Scene) -> None:
        _, claim = await _running(scene)
        await scene.finish(claim, OutcomeKind.LOST, T0 + 5)
        execution = await scene.execution(claim)
        assert (execution.attempt, execution.charged, execution.lost) == (1, 0, 1)

    async def test_a_report_with_another_attempt_number_is_refused(self, scene: Scene) -> None:
        _, stale = await _running(scene)
        await scene.finish(stale, OutcomeKind.LOST, T0 + 1, delay=0)
        await scene.claim_one(T0 + 1, "w2")
        before = await snapshot(scene.store, T0 + 2)
        late = report(stale, OutcomeKind.SUCCEEDED, T0 + 2)
        assert (await scene.store.finish([late], T0 + 2)).refused == [late]
        assert await snapshot(scene.store, T0 + 2) == before

    @pytest.mark.parametrize("to", [OutcomeKind.SUCCEEDED, OutcomeKind.FAILED])
    async def test_a_report_about_what_has_ended_is_refused(
        self, scene: Scene, to: OutcomeKind
    ) -> None:
        _, claim = await _running(scene, retry=Retry(max_attempts=1))
        await scene.finish(claim, OutcomeKind.SUCCEEDED, T0 + 1)
        before = await snapshot(scene.store, T0 + 2)
        other = report(claim, to, T0 + 2)
        assert (await scene.store.finish([other], T0 + 2)).refused == [other]
        assert await snapshot(scene.store, T0 + 2) == before

    async def test_a_report_about_nothing_known_is_refused(self, scene: Scene) -> None:
        _, claim = await _running(scene)
        unknown = report(replace(claim, id="nobody"), OutcomeKind.SUCCEEDED, T0 + 1)
        assert (await scene.store.finish([unknown], T0 + 1)).refused == [unknown]

    @pytest.mark.parametrize("kind", OutcomeKind)
    async def test_a_repeated_report_is_not_refused_and_changes_nothing(
        self, scene: Scene, kind: OutcomeKind
    ) -> None:
        _, claim = await _running(scene)
        answer = report(claim, kind, T0 + 1)
        await scene.store.finish([answer], T0 + 1)
        before = await snapshot(scene.store, T0 + 2)
        assert (await scene.store.finish([answer, answer], T0 + 2)).refused == []
        assert await snapshot(scene.store, T0 + 2) == before

    async def test_a_repeated_report_is_not_refused_after_a_later_attempt(
        self, scene: Scene
    ) -> None:
        _, claim = await _running(scene)
        answer = report(claim, OutcomeKind.RELEASED, T0 + 1)
        await scene.store.finish([answer], T0 + 1)
        await scene.claim_one(T0 + 1)
        assert (await scene.store.finish([answer], T0 + 1)).refused == []
        assert (await scene.execution(claim)).state is State.RUNNING

    async def test_one_that_is_refused_does_not_stop_the_others(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(*(a_request(job, T0) for _ in range(3)))
        claims = await scene.claim(T0)
        reports: list[Report] = [report(claim, OutcomeKind.SUCCEEDED, T0 + 1) for claim in claims]
        reports[1].claim = replace(claims[1], attempt=7)
        finished = await scene.store.finish(reports, T0 + 1)
        assert finished.refused == [reports[1]]
        assert (await scene.execution(claims[0])).state is State.SUCCEEDED
        assert (await scene.execution(claims[1])).state is State.RUNNING
        assert (await scene.execution(claims[2])).state is State.SUCCEEDED

    async def test_an_empty_batch_is_nothing(self, scene: Scene) -> None:
        assert (await scene.store.finish([], T0)).refused == []


class Failures(Topic):
    """Dead executions in a row, for jobs that pause by themselves."""

    async def _end(self, scene: Scene, job: Job, kind: OutcomeKind, now: int) -> dict[str, int]:
        await scene.run(a_request(job, now), now=now)
        claim = await scene.claim_one(now)
        return (await scene.finish(claim, kind, now, retry=False)).failures

    async def test_they_are_counted_and_success_forgives(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), pause_after=2)
        assert await self._end(scene, job, OutcomeKind.FAILED, T0) == {job.id: 1}
        assert await self._end(scene, job, OutcomeKind.FAILED, T0 + 1) == {job.id: 2}
        assert await self._end(scene, job, OutcomeKind.SUCCEEDED, T0 + 2) == {job.id: 0}
        assert (await scene.cursor(job)).failures == 0
        assert await self._end(scene, job, OutcomeKind.FAILED, T0 + 3) == {job.id: 1}

    async def test_what_was_cancelled_says_nothing(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand(), pause_after=2)
        await self._end(scene, job, OutcomeKind.FAILED, T0)
        await self._end(scene, job, OutcomeKind.CANCELLED, T0 + 1)
        assert (await scene.cursor(job)).failures == 1

    async def test_jobs_that_never_pause_are_not_counted(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        assert await self._end(scene, job, OutcomeKind.FAILED, T0) == {}
        assert (await scene.cursor(job)).failures == 0

    async def test_whoever_lost_the_reply_learns_the_count_from_the_repetition(
        self, scene: Scene
    ) -> None:
        job = await scene.job(trigger=OnDemand(), pause_after=1)
        await scene.run(a_request(job, T0))
        answer = report(await scene.claim_one(T0), OutcomeKind.FAILED, T0, retry=False)
        await scene.store.finish([answer], T0)
        assert (await scene.store.finish([answer], T0)).failures == {job.id: 1}


class Retries(Topic):
    """What follows a failed attempt when the job has changed meanwhile."""

    async def test_a_retry_of_a_paused_job_is_held(self, scene: Scene) -> None:
        job, claim = await _running(scene)
        await scene.change(job, pause("ann", "wait"), T0 + 1)
        await scene.fail(claim, T0 + 2)
        await scene.promote(minute(60))
        assert (await scene.execution(claim)).state is State.WAITING
        await scene.change(job, resume(), minute(60))
        await scene.promote(minute(60))
        assert (await scene.execution(claim)).state is State.QUEUED

    async def test_a_retry_of_a_deleted_job_is_cancelled(self, scene: Scene) -> None:
        job, claim = await _running(scene)
        await scene.change(job, delete(), T0 + 1)
        await scene.fail(claim, T0 + 2)
        execution = await scene.execution(claim)
        assert (execution.state, execution.reason) == (State.CANCELLED, "job deleted")
        assert [one.outcome for one in execution.attempts] == [OutcomeKind.FAILED]

    async def test_a_retry_runs_by_the_definition_in_force(self, scene: Scene) -> None:
        job, claim = await _running(scene)
        edited = replace(job, target=Call("other"), queue="slow", priority=1)
        await scene.change(job, edit(edited), T0 + 1)
        await scene.fail(claim, T0 + 2)
        execution = await scene.execution(claim)
        assert (execution.job_version, execution.queue) == (2, "slow")
        assert execution.ability == "call:other"
        await scene.promote(minute(2))
        assert await scene.claim(minute(2)) == []
        again = await scene.claim_one(
            minute(2), queues=("slow",), abilities=frozenset({"call:other"})
        )
        assert (again.job.version, again.job.target) == (2, Call("other"))

    @pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.LOST, OutcomeKind.RELEASED])
    async def test_nothing_follows_once_the_cancel_was_requested(
        self, scene: Scene, kind: OutcomeKind
    ) -> None:
        _, claim = await _running(scene)
        await scene.store.request_cancel("default", [claim.id], T0 + 1)
        await scene.finish(claim, kind, T0 + 2)
        execution = await scene.execution(claim)
        assert (execution.state, execution.reason) == (State.CANCELLED, "cancelled")
        assert not execution.cancel_requested

    async def test_success_stands_although_the_cancel_was_requested(self, scene: Scene) -> None:
        _, claim = await _running(scene)
        await scene.store.request_cancel("default", [claim.id], T0 + 1)
        await scene.succeed(claim, T0 + 2)
        assert (await scene.execution(claim)).state is State.SUCCEEDED

    async def test_a_retry_queues_up_behind_what_was_due_before(self, scene: Scene) -> None:
        job, claim = await _running(scene)
        await scene.finish(claim, OutcomeKind.SNOOZED, T0, delay=SECOND)
        [due] = await scene.run(a_request(job, T0 + 1), now=T0 + 1)
        await scene.promote(T0 + SECOND)
        claims = await scene.claim(T0 + SECOND)
        assert [one.id for one in claims] == [due, claim.id]

    async def test_the_job_permit_survives_a_retry_wait(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.QUEUE_ALL, retry=_RETRY)
        await scene.fire(minute(1))
        claim = await scene.claim_one(minute(1))
        await scene.fail(claim, minute(1) + 30 * SECOND)
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.WAITING, State.BLOCKED]
        await scene.promote(minute(3))
        assert await scene.states(job) == [State.QUEUED, State.BLOCKED]


class AfterFinish(Topic):
    """Jobs whose next fire counts from the end of the last run."""

    async def _running(self, scene: Scene, **fields: Any) -> tuple[Job, Claim]:
        trigger = Every(timedelta(minutes=1), after="finish")
        job = await scene.job(trigger=trigger, **fields)
        await scene.fire(minute(1))
        return job, await scene.claim_one(minute(1))

    async def test_nothing_is_to_come_while_the_run_is_live(self, scene: Scene) -> None:
        job, _ = await self._running(scene)
        assert (await scene.cursor(job)).next_fire_time is None
        assert (await scene.fire(minute(60))).jobs == 0

    @pytest.mark.parametrize(
        "kind", [OutcomeKind.SUCCEEDED, OutcomeKind.FAILED, OutcomeKind.CANCELLED]
    )
    async def test_it_fires_a_period_after_any_end(self, scene: Scene, kind: OutcomeKind) -> None:
        job, claim = await self._running(scene)
        end = minute(3) + 7
        await scene.finish(claim, kind, end, retry=False)
        await scene.fire(end)
        assert (await scene.cursor(job)).next_fire_time == end + MINUTE
        await scene.fire(end + MINUTE)
        assert (await scene.fire_times(job))[1:] == [end + MINUTE]

    async def test_a_retry_is_no_end(self, scene: Scene) -> None:
        job, claim = await self._running(scene)
        await scene.fail(claim, minute(3))
        await scene.fire(minute(60))
        assert await scene.fire_times(job) == [minute(1)]

    @pytest.mark.parametrize("to", [State.CANCELLED, State.SKIPPED])
    async def test_it_fires_a_period_after_it_was_settled(self, scene: Scene, to: State) -> None:
        trigger = Every(timedelta(minutes=1), after="finish")
        job = await scene.job(trigger=trigger)
        await scene.fire(minute(1))
        [execution] = await scene.executions(job)
        await scene.settle([execution.id], to, minute(3))
        await scene.fire(minute(3))
        assert (await scene.cursor(job)).next_fire_time == minute(4)

    async def test_the_end_of_a_run_wakes_neither_a_paused_nor_a_deleted_job(
        self, scene: Scene
    ) -> None:
        for changer, state in (
            (pause("ann", "wait"), JobState.PAUSED),
            (delete(), JobState.DELETED),
        ):
            job, claim = await self._running(scene)
            await scene.change(job, changer, minute(1))
            await scene.succeed(claim, minute(2))
            cursor = await scene.cursor(job)
            assert (cursor.state, cursor.next_fire_time) == (state, None)

    async def test_resumed_it_counts_from_the_end_that_the_pause_saw(self, scene: Scene) -> None:
        job, claim = await self._running(scene)
        await scene.change(job, pause("ann", "wait"), minute(1))
        await scene.succeed(claim, minute(2))
        await scene.change(job, resume(), minute(2) + 5)
        await scene.fire(minute(2) + 5)
        assert (await scene.cursor(job)).next_fire_time == minute(3)

    async def test_the_last_run_leaves_the_job_finished(self, scene: Scene) -> None:
        trigger = Every(timedelta(minutes=1), after="finish", max_runs=1)
        job = await scene.job(trigger=trigger)
        await scene.fire(minute(1))
        assert (await scene.cursor(job)).state is JobState.FINISHED
        await scene.succeed(await scene.claim_one(minute(1)), minute(2))
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.next_fire_time) == (JobState.FINISHED, None)

    async def test_a_skipped_run_gives_its_place_back(self, scene: Scene) -> None:
        trigger = Every(timedelta(minutes=1), after="finish", max_runs=1)
        job = await scene.job(trigger=trigger, expires="1s")
        await scene.fire(minute(1))
        await scene.promote(minute(2))
        await scene.fire(minute(2))
        await scene.fire(minute(3))
        assert await scene.states(job) == [State.SKIPPED, State.QUEUED]
        assert (await scene.cursor(job)).state is JobState.FINISHED

    async def test_a_requested_run_does_not_move_the_next_fire(self, scene: Scene) -> None:
        trigger = Every(timedelta(minutes=5), after="finish")
        job = await scene.job(trigger=trigger)
        await scene.run(a_request(job, T0))
        await scene.succeed(await scene.claim_one(T0), minute(2))
        assert (await scene.cursor(job)).next_fire_time == minute(5)

    async def test_on_demand_nothing_follows(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        await scene.run(a_request(job, T0))
        await scene.succeed(await scene.claim_one(T0), minute(1))
        cursor = await scene.cursor(job)
        assert (cursor.state, cursor.next_fire_time) == (JobState.ACTIVE, None)
