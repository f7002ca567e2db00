"""Events by word and by class, for all jobs or for one; made only if they are asked for."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tickwell import Call, Concurrency, Cron, Every, GiveUp, OutcomeKind, Reason, Run, Scheduler
from tickwell.declared.internals import internals
from tickwell.domain import event as inner
from tickwell.domain.event import ON_REQUEST, AttemptStart
from tickwell.domain.outcome import Outcome, decide
from tickwell.errors import InvalidInput
from tickwell.events import (
    AttemptsStarted,
    Cancelled,
    FiresSkipped,
    JobChanged,
    JobPaused,
    Recovered,
    Revived,
)
from tickwell.testing import FakeRun


async def test_an_execution_is_told_from_its_fire_to_its_revival(tickwell):
    scheduler = tickwell.scheduler
    seen: list[Any] = []
    for word in ("fired", "started", "finished", "dead", "revived"):

        @scheduler.on(word)
        def note(event, word=word):
            seen.append((word, event))

    @tickwell.job(Every("1h"), retry=1)
    async def report() -> None:
        raise GiveUp("the account is closed")

    await tickwell.travel("1h")
    (dead,) = await scheduler.executions(state="dead")
    await scheduler.revive(dead.id)
    words = [word for word, _ in seen]
    assert words[:4] == ["fired", "started", "finished", "dead"]
    assert words[-1] == "revived"
    by_word = dict(reversed(seen))
    (start,) = by_word["started"].starts
    assert (start.execution, start.job, start.attempt) == (dead.id, "report", 1)
    assert (start.fire_time, start.late) == (dead.fire_time, timedelta(0))
    (died,) = by_word["dead"].reports
    assert died.explanation == "gave up: the account is closed"
    assert by_word["revived"] == Revived(project="default", executions=(dead.id,))


async def test_skipped_fire_times_have_job_and_reason(tickwell):
    scheduler = tickwell.scheduler
    seen: list[Any] = []

    @scheduler.on("skipped", job="report")
    def note(event: FiresSkipped) -> None:
        seen.extend(event.skips)

    @tickwell.job(Cron("0 * * * *"), misfire="skip")
    async def report() -> None: ...

    @tickwell.job(Cron("0 * * * *"), misfire="skip")
    async def other() -> None: ...

    await tickwell.travel("30m")
    tickwell.clock.jump(3 * 3600.0)
    await tickwell.travel("31m")
    assert {(skip.job, skip.reason) for skip in seen} == {("report", Reason.MISFIRE)}
    assert sum(skip.count for skip in seen) == 3
    assert seen[0].explanation == "it was missed, and the misfire policy skips missed fire times"


async def test_late_starts_are_told_and_punctual_ones_are_not(tickwell):
    scheduler = tickwell.scheduler
    late: list[Any] = []
    started: list[Any] = []
    scheduler.on("late")(lambda event: late.extend(event.starts))
    scheduler.on(AttemptsStarted, job="report")(lambda event: started.extend(event.starts))

    @tickwell.job(Cron("0 * * * *"))
    async def report() -> None: ...

    @tickwell.job()
    async def other() -> None: ...

    await tickwell.travel("1h")
    await other.trigger()
    await tickwell.settle()
    assert [one.job for one in started] == ["report"]
    assert late == []
    claim = FakeRun(job="report")._claim
    starts = [AttemptStart(claim, claim.run_at + after) for after in (0, 999, 5_000)]
    internals(scheduler).events.emit(inner.AttemptsStarted(starts=starts))
    assert [one.late for one in late] == [timedelta(seconds=5)]
    assert len(started) == 4


async def test_changes_of_jobs_are_told_with_who_and_why(tickwell):
    scheduler = tickwell.scheduler
    seen: list[Any] = []
    paused: list[Any] = []
    edited: list[Any] = []
    scheduler.on(JobChanged)(seen.append)
    scheduler.on("paused")(paused.append)
    scheduler.on("edited", job="pong")(edited.append)
    await scheduler.add_job("ping", Every("1h"), Call("ping"))
    await scheduler.edit_job("ping", trigger=Every("2h"))
    await scheduler.pause_job("ping", why="holidays", by="ada")
    await scheduler.resume_job("ping")
    await scheduler.delete_job("ping")
    actions = [event.action for event in seen]
    assert actions == ["added", "edited", "paused", "resumed", "deleted"]
    assert (paused[0].job, paused[0].by, paused[0].why) == ("ping", "ada", "holidays")
    assert edited == []


async def test_a_pause_by_a_policy_is_one_as_well(tickwell):
    scheduler = tickwell.scheduler
    paused: list[Any] = []
    scheduler.on("paused", job="broken")(paused.append)

    @tickwell.job(Every("1h"), retry=1, pause_after=2)
    async def broken() -> None:
        raise ValueError("no")

    await tickwell.travel("3h")
    assert [type(event) for event in paused] == [JobPaused]


def test_what_nobody_asks_for_is_not_made():
    scheduler = Scheduler("memory://")
    events = internals(scheduler).events
    scheduler.on("finished")(print)
    scheduler.metrics()
    assert not any(events.wants(kind) for kind in ON_REQUEST)
    assert not events.wants_starts
    leave = scheduler.subscribe(print)
    assert all(events.wants(kind) for kind in ON_REQUEST)
    leave()
    assert not any(events.wants(kind) for kind in ON_REQUEST)
    assert not events.wants_starts


def test_an_unknown_word_is_refused_with_those_that_exist():
    with pytest.raises(InvalidInput, match=r"unknown event 'begun'.*started, late"):
        Scheduler("memory://").on("begun")(print)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["start", "stop", "idle", "revived", Revived, Cancelled])
def test_a_job_is_refused_where_events_name_none(what):
    with pytest.raises(InvalidInput, match=r"names no job.*Leave the job out"):
        Scheduler("memory://").on(what, job="report")(print)


def test_a_lost_attempt_is_told_as_one_that_failed():
    scheduler = Scheduler("memory://")
    told: list[Any] = []
    for word in ("error", "finished", "dead"):
        scheduler.on(word, job="report")(lambda event, word=word: told.append((word, event)))
    report = decide(FakeRun(job="report")._claim, Outcome(kind=OutcomeKind.LOST), 0)
    recovered = inner.Recovered(executions=[report.claim.id], reports=[report])
    internals(scheduler).events.emit(recovered)
    assert [word for word, _ in told] == ["error", "finished"]
    assert all(isinstance(event, Recovered) for _, event in told)
    assert [one.outcome for _, event in told for one in event.reports] == [OutcomeKind.LOST] * 2


async def test_executions_that_are_skipped_later_are_told_one_by_one(tickwell):
    scheduler = tickwell.scheduler
    seen: list[Any] = []
    scheduler.on("skipped")(lambda event: seen.extend(event.skips))
    finished: list[Any] = []
    scheduler.on("finished", job="polls")(finished.append)
    begin = tickwell.now

    @tickwell.job(Every("1m", max_runs=2), only_if=never)
    async def polls() -> None: ...

    @tickwell.job(Every("1m"))
    async def long(run: Run) -> None:
        await tickwell.clock.wait(asyncio.Event(), 150)

    await tickwell.travel("2m30s", wait=False)
    found = {(skip.job, skip.reason, (skip.first - begin) // timedelta(minutes=1)) for skip in seen}
    assert found == {
        ("polls", Reason.CONDITION, 1),
        ("polls", Reason.CONDITION, 2),
        ("long", Reason.OVERLAP, 2),
    }
    assert all((skip.first, skip.count) == (skip.last, 1) for skip in seen)
    assert len(seen) == 3
    assert finished == []


def never() -> bool:
    return False


async def test_an_execution_that_expires_is_told_as_skipped(tickwell):
    seen: list[Any] = []
    tickwell.scheduler.on("skipped", job="second")(lambda event: seen.extend(event.skips))
    narrow = Concurrency("narrow", limit=1)

    @tickwell.job(Every("30s", max_runs=1), concurrency=narrow)
    async def first() -> None:
        await tickwell.clock.wait(asyncio.Event(), 90)

    @tickwell.job(Every("1m", max_runs=1), concurrency=narrow, expires="10s")
    async def second() -> None: ...

    await tickwell.travel("1m20s", wait=False)
    assert [(skip.job, skip.reason) for skip in seen] == [("second", Reason.EXPIRED)]
