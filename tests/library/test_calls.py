"""What the scheduler's calls answer with, and what they refuse."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.executors.running import run_to_end
from tickwell import (
    Answer,
    Calendar,
    CalendarEvery,
    Call,
    Cron,
    Every,
    GiveUp,
    Misfire,
    Once,
    Reason,
    Retry,
    RRule,
    Scheduler,
    State,
    Timeout,
    Window,
    when,
)
from tickwell.domain.execution import BY_NEWER_FIRE
from tickwell.domain.explanation import SKIPPED_BECAUSE, explanation_of, reason_of
from tickwell.errors import Conflict, InvalidInput, InvalidJob, InvalidTrigger, JobExists
from tickwell.policies import Policies
from tickwell.testing import Kit

DAY = timedelta(days=1)


@pytest.fixture
async def scheduler():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def mail(to: str = "") -> str:
        return to

    async with scheduler:
        yield scheduler


async def test_a_name_that_is_taken_is_an_error_an_update_or_kept(scheduler):
    added = await scheduler.add_job("ping", Every("1h"), Call("mail"))
    with pytest.raises(JobExists, match="ping"):
        await scheduler.add_job("ping", Every("2h"), Call("mail"))
    kept = await scheduler.add_job("ping", Every("2h"), Call("mail"), if_exists="keep")
    assert kept == added
    updated = await scheduler.add_job("ping", Every("2h"), Call("mail"), if_exists="update")
    assert (updated.id, updated.version, updated.trigger) == (added.id, 2, Every("2h"))
    new = await scheduler.add_job("pong", None, Call("mail"), if_exists="update")
    assert new.version == 1
    with pytest.raises(InvalidInput, match="expected one of error, update, keep"):
        await scheduler.add_job("ping", None, Call("mail"), if_exists="replace")


async def test_a_key_with_another_payload_is_a_conflict(scheduler):
    first = await scheduler.trigger("mail", {"to": "ada"}, key="k")
    assert (await scheduler.trigger("mail", {"to": "ada"}, key="k")).id == first.id
    with pytest.raises(Conflict, match="another payload"):
        await scheduler.trigger("mail", {"to": "bob"}, key="k")
    with pytest.raises(Conflict, match="another payload"):
        await scheduler.trigger_in("1h", "mail", {"to": "bob"}, key="k")


async def test_executions_have_their_jobs_name_and_are_filtered(scheduler):
    execution = await scheduler.wait(await scheduler.trigger("mail", {"to": "ada"}))
    assert (execution.job, execution.result, execution.has_ended) == ("mail", "ada", True)
    assert [one.id for one in await scheduler.executions(state="succeeded")] == [execution.id]
    assert await scheduler.executions(state=[State.DEAD, "running"]) == []
    assert await scheduler.executions(kind="fire") == []
    later = execution.fire_time + timedelta(milliseconds=1)
    assert await scheduler.executions(job="mail", since=later) == []
    with pytest.raises(InvalidInput, match="unknown value 'ended'; expected one of waiting"):
        await scheduler.executions(state="ended")


async def test_slots_and_a_backfill_by_name(tickwell: Kit):
    tickwell.start_at(datetime(2026, 6, 1, tzinfo=UTC))

    @tickwell.job(Every("1d"))
    async def nightly() -> None: ...

    await tickwell.settle()
    scheduler, begin = tickwell.scheduler, tickwell.now
    await tickwell.travel("1d")
    await scheduler.pause_job("nightly", why="holidays")
    await tickwell.travel("2d")
    await scheduler.resume_job("nightly")
    await tickwell.settle()
    slots = await scheduler.slots("nightly", since=begin + DAY, until=tickwell.now + DAY)
    assert [slot.answer for slot in slots] == [Answer.EXECUTED, *[Answer.SKIPPED] * 2]
    assert [slot.fire_time for slot in slots] == [begin + DAY * n for n in (1, 2, 3)]
    assert [slot.reason for slot in slots] == [None, Reason.PAUSED, Reason.PAUSED]
    assert slots[1].explanation == "the job was paused at that time"
    since, until = begin + DAY, tickwell.now + DAY
    dry = await scheduler.backfill("nightly", since=since, until=until, dry_run=True)
    assert (dry.count, dry.executions) == (2, ())
    done = await scheduler.backfill("nightly", since=since, until=until)
    assert (done.count, len(done.executions), done.left_alone, done.next) == (2, 2, 1, None)
    await tickwell.travel("1m")
    await tickwell.assert_ran("nightly", 3)


async def test_one_occurrence_is_skipped_and_another_skip_undone(tickwell: Kit):
    tickwell.start_at(datetime(2026, 6, 1, tzinfo=UTC))

    @tickwell.job(Every("1d"))
    async def nightly() -> None: ...

    await tickwell.settle()
    scheduler, begin = tickwell.scheduler, tickwell.now
    await scheduler.skip("nightly", at=begin + DAY, why="holidays", by="ann")
    await scheduler.skip("nightly", at=begin + 2 * DAY)
    await scheduler.unskip("nightly", at=begin + 2 * DAY)
    with pytest.raises(InvalidInput, match="nearest fire times: 2026-06-02"):
        await scheduler.skip("nightly", at=begin + DAY / 2)
    await tickwell.travel("2d")
    slots = await scheduler.slots("nightly", since=begin + DAY, until=tickwell.now + DAY)
    assert [slot.answer for slot in slots] == [Answer.SKIPPED, Answer.EXECUTED]
    assert (slots[0].reason, slots[0].by, slots[0].why) == (Reason.BY_PERSON, "ann", "holidays")
    assert slots[0].explanation == "a person skipped this occurrence"
    await tickwell.assert_ran("nightly", 1)


async def test_a_handler_that_gives_up_is_not_tried_again():
    scheduler = Scheduler("memory://")

    @scheduler.job(retry=5)
    async def charge() -> None:
        raise GiveUp("the card\nis stolen")

    dead = await run_to_end(scheduler, charge)
    assert (dead.state, dead.attempt, dead.reason) == (State.DEAD, 1, Reason.NOT_RETRYABLE)
    assert dead.explanation == "gave up: the card is stolen"


@pytest.mark.parametrize("words", ["3 of 3 attempts", "lost 3 times", ""])
async def test_words_of_a_handler_are_not_taken_for_another_reason(words):
    scheduler = Scheduler("memory://")

    @scheduler.job(retry=5)
    def charge() -> None:
        raise ExceptionGroup("both", [ValueError(), GiveUp(words)])

    dead = await run_to_end(scheduler, charge)
    assert (dead.attempt, dead.reason) == (1, Reason.NOT_RETRYABLE)


class Busy(ConnectionError):
    pass


@pytest.mark.parametrize(
    ("retry", "attempts", "why"),
    [
        (Retry(on=(ConnectionError,), max_attempts=2, delay="0s"), 2, "2 of 2 attempts"),
        (Retry(on=(TimeoutError,)), 1, "gave up: retry.on does not have Busy"),
        (Retry(unless=["OSError"]), 1, "gave up: retry.unless has OSError"),
        (Retry(on=[Busy], unless=[Busy]), 1, f"gave up: retry.unless has {__name__}.Busy"),
    ],
)
async def test_the_type_of_an_exception_decides_about_another_attempt(retry, attempts, why):
    scheduler = Scheduler("memory://")

    @scheduler.job(retry=retry)
    async def call() -> None:
        raise Busy

    dead = await run_to_end(scheduler, call)
    assert (dead.attempt, dead.explanation) == (attempts, why)


def test_exceptions_of_a_policy_are_kept_as_names():
    retry = Retry(on=(Busy, ValueError, "ValueError"))
    assert retry.on == (f"{__name__}.Busy", "ValueError")
    for wrong in ("ValueError", [5], ["not a name"], [int], None):
        with pytest.raises(InvalidJob, match=r"retry\.unless"):
            Retry(unless=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "text", "reason"),
    [
        (State.DEAD, "3 of 3 attempts", Reason.OUT_OF_ATTEMPTS),
        (State.DEAD, "lost 3 times", Reason.LOST),
        (State.DEAD, "not to be retried", Reason.NOT_RETRYABLE),
        (State.DEAD, "older than the retry policy allows", Reason.TOO_OLD),
        (State.DEAD, "at most once: the attempt had started", Reason.AT_MOST_ONCE),
        (State.CANCELLED, "cancelled", Reason.CANCELLED),
        (State.CANCELLED, BY_NEWER_FIRE, Reason.REPLACED),
        (State.PARKED, "no worker has its handler", Reason.NO_WORKER),
        (State.SUCCEEDED, None, None),
        (State.WAITING, None, None),
    ],
)
def test_a_reason_is_read_from_its_words(state, text, reason):
    assert reason_of(state, text) is reason
    assert explanation_of(state, text) == (text or "")


def test_every_skip_is_explained():
    for reason, words in SKIPPED_BECAUSE.items():
        assert reason_of(State.SKIPPED, reason.value) is reason
        assert explanation_of(State.SKIPPED, reason.value) == words


async def test_policies_have_short_forms(scheduler):
    short = {"retry": 7, "timeout": "30s", "misfire": "skip"}
    job = await scheduler.add_job("short", Every("1h"), Call("mail"), **short)
    assert job.retry == Retry(max_attempts=7)
    assert (job.timeout, job.misfire) == (Timeout(hard="30s"), Misfire(policy="skip"))
    edited = await scheduler.edit_job("short", timeout=timedelta(minutes=1))
    assert edited.timeout == Timeout(hard="1m")


async def test_defaults_apply_to_what_does_not_say_otherwise():
    scheduler = Scheduler("memory://", defaults=Policies(retry=7, timeout="30s", queue="mail"))

    @scheduler.job(retry=2)
    async def mail() -> None: ...

    await scheduler.sync()
    declared = await scheduler.get_job("mail")
    added = await scheduler.add_job("ping", None, Call("mail"), queue="default")
    await scheduler.stop()
    assert (declared.retry.max_attempts, declared.queue) == (2, "mail")
    assert (added.retry.max_attempts, added.queue) == (7, "default")
    assert declared.timeout == added.timeout == Timeout(hard="30s")


def test_defaults_that_no_job_may_have_are_refused_at_once():
    with pytest.raises(InvalidJob, match=r"retry\.max_attempts"):
        Scheduler("memory://", defaults=Policies(retry=0))


async def test_the_default_zone_is_that_of_triggers_that_name_none():
    rome = Policies(tz="Europe/Rome")
    scheduler = Scheduler("memory://", defaults=rome)
    named = {
        "cron": Cron("0 9 * * *"),
        "utc": Cron("0 9 * * *", tz="UTC"),
        "every": CalendarEvery(months=1, anchor=datetime(2026, 1, 31, 9)),  # noqa: DTZ001
        "offset": CalendarEvery(months=1, anchor=datetime(2026, 1, 31, 9, tzinfo=UTC)),
        "rrule": RRule(rrule="FREQ=DAILY", dtstart=datetime(2026, 1, 31, 9)),  # noqa: DTZ001
        "phrase": when("every day at 9 and 9:30"),
        "in-rome": when("every day at 9 in Rome"),
        "window": Every(
            "1h", within=[Window("mon-fri")], exclude=Calendar("x", [date(2026, 1, 1)])
        ),
        "either": Cron("0 9 * * *") | Once(datetime(2999, 1, 1, tzinfo=UTC)),
    }
    for name, trigger in named.items():
        scheduler.declare(name, trigger, Call("f"))
    await scheduler.sync()
    found: dict[str, Any] = {job.name: job.trigger for job in await scheduler.jobs()}
    edited: Any = await scheduler.edit_job("utc", trigger=Cron("0 8 * * *"))
    own: Any = await scheduler.add_job("own", Cron("0 9 * * *"), Call("f"), tz="Asia/Tokyo")
    with pytest.raises(InvalidInput, match="tz: needs the trigger"):
        await scheduler.edit_job("utc", tz="Asia/Tokyo")
    await scheduler.stop()
    zones = {name: getattr(trigger, "tz", None) for name, trigger in found.items()}
    assert zones == {
        "cron": "Europe/Rome",
        "utc": "UTC",
        "every": "Europe/Rome",
        "offset": "UTC",
        "rrule": "Europe/Rome",
        "phrase": None,
        "in-rome": "Europe/Rome",
        "window": None,
        "either": None,
    }
    assert [each.tz for each in found["phrase"].members] == ["Europe/Rome"] * 2
    assert found["either"].members[0].tz == "Europe/Rome"
    assert found["window"].within[0].tz == found["window"].exclude[0].tz == "Europe/Rome"
    assert (edited.trigger.tz, own.trigger.tz) == ("Europe/Rome", "Asia/Tokyo")


def test_a_default_zone_that_does_not_exist_is_refused_at_once():
    with pytest.raises(InvalidTrigger, match="Did you mean Europe/Rome"):
        Scheduler("memory://", defaults=Policies(tz="europe/rome"))


async def test_a_default_zone_is_no_change_of_what_names_it():
    async with Scheduler("memory://") as plain:
        await plain.add_job("x", Cron("0 9 * * *"), Call("f"))
        assert (await plain.get_job("x")).trigger == Cron("0 9 * * *", tz="UTC")
