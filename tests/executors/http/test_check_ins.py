"""Check-ins with other monitoring, against a local server that speaks their protocols."""

import asyncio
import json
import logging

import pytest

from tests.executors.http.conftest import CONTEXT, LOCAL, a_claim
from tests.executors.http.receiver import answers
from tickwell import Every, Scheduler, Settings
from tickwell.domain.event import AttemptsFinished, Events, Recovered
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.target import Call
from tickwell.executors.check_ins import MOST_OF_JOB, RESTS, OutgoingCheckIns
from tickwell.executors.http.executor import HttpExecutor
from tickwell.executors.http.network.guard import Guard
from tickwell.testing.clock import ManualClock

EACH = ["/job/start", "/job", "/job/start", "/job/fail"]
NOW = 1_763_240_000_000


class Hasty(ManualClock):
    """Rests are over at once, and known."""

    def __init__(self):
        super().__init__()
        self.rests = []

    async def wait(self, wake, seconds):
        self.rests.append(seconds)


class Office:
    """Check-ins as an engine drives them."""

    def __init__(self, clock, guard=None):
        self.events = Events()
        self.sent = 0
        self.service = OutgoingCheckIns(
            clock,
            lambda: HttpExecutor(clock, guard or Guard(**LOCAL), make_context=lambda: CONTEXT),
        )
        self.service.listen(self.events)
        self.woken = asyncio.Event()
        self.service.wake = self.woken.set

    def end(self, claim, kind, error=None):
        outcome = Outcome(kind=kind, error=error, retry=False)
        outcome.started_at = NOW
        self.events.emit(AttemptsFinished(reports=[decide(claim, outcome, NOW + 1500)]))

    async def settle(self):
        """Until nothing waits."""
        await self.service.step()
        while self.service._tasks:
            await asyncio.wait(self.service._tasks.values())
            await self.service.step()


@pytest.fixture
async def office(clock):
    made = []

    def make(guard=None, clock=clock):
        made.append(Office(clock, guard))
        return made[-1]

    yield make
    for each in made:
        await each.service.close()


def a_run(check_in, **policies):
    return a_claim(Call("x"), policies={"check_in": check_in, "retry": 1, **policies})


async def test_healthchecks_is_told_start_success_and_failure_in_order(office, receive):
    receiver, work = await receive(answers(200, b"OK")), office()
    claim = a_run(receiver.url("/ping/abc"))
    work.service.started(claim)
    work.end(claim, OutcomeKind.SUCCEEDED)
    work.service.started(claim)
    work.end(claim, OutcomeKind.FAILED, "OSError: no space")
    await work.settle()
    lines = [each.line.split(" ")[1] for each in receiver.exchanges]
    rid = f"?rid={claim.id}"
    assert lines == [f"/ping/abc{path}{rid}" for path in ("/start", "", "/start", "/fail")]
    assert [each.body for each in receiver.exchanges] == [b"", b"", b"", b"OSError: no space"]


async def test_sentry_is_told_with_the_schedule_and_how_long_it_took(office, receive):
    receiver, work = await receive(answers(202, b"")), office()
    claim = a_claim(Call("x"), policies={"check_in": dsn_of(receiver), "retry": 1})
    object.__setattr__(claim.job, "trigger", Every("1h"))
    work.service.started(claim)
    work.end(claim, OutcomeKind.SUCCEEDED)
    work.end(claim, OutcomeKind.FAILED, "no")
    await work.settle()
    assert {each.line.split(" ")[1] for each in receiver.exchanges} == {
        "/api/42/cron/daily-report/abc/"
    }
    said = [json.loads(each.body) for each in receiver.exchanges]
    assert [each["status"] for each in said] == ["in_progress", "ok", "error"]
    assert {each["check_in_id"] for each in said} == {claim.id.replace("-", "")}
    assert [each.get("duration") for each in said] == [None, 1.5, 1.5]
    assert said[0]["monitor_config"]["schedule"] == {
        "type": "interval",
        "value": 1,
        "unit": "hour",
    }
    assert receiver.exchanges[0].headers["content-type"] == "application/json"


def dsn_of(receiver):
    return f"http://abc@127.0.0.1:{receiver.port}/42"


async def test_a_lost_run_is_told_by_who_recovers_it(office, receive):
    receiver, work = await receive(answers(200, b"OK")), office()
    claim = a_run(receiver.url("/p"))
    report = decide(claim, Outcome(kind=OutcomeKind.FAILED, error="lost", retry=False), NOW)
    report.started_at = NOW
    work.events.emit(Recovered(executions=[claim.id], reports=[report]))
    await work.settle()
    assert [each.line.split(" ")[1].split("?")[0] for each in receiver.exchanges] == ["/p/fail"]


async def test_an_attempt_that_is_retried_says_nothing_and_one_without_check_ins_neither(
    office, receive
):
    receiver, work = await receive(answers(200, b"OK")), office()
    retried = a_claim(Call("x"), policies={"check_in": receiver.url("/p"), "retry": 3})
    outcome = Outcome(kind=OutcomeKind.FAILED, error="no", started_at=NOW)
    work.events.emit(AttemptsFinished(reports=[decide(retried, outcome, NOW)]))
    work.end(a_claim(Call("x")), OutcomeKind.SUCCEEDED)
    await work.settle()
    assert receiver.exchanges == []
    assert not work.woken.is_set()


async def test_an_outage_is_retried_in_bounds_and_logged_once(office, receive, caplog):
    caplog.set_level(logging.INFO, "tickwell")
    clock = Hasty()
    status = [503]

    async def behave(exchange):
        await answers(status[0], b"")(exchange)

    receiver = await receive(behave)
    work = office(clock=clock)
    claim = a_run(receiver.url("/p"))
    for _ in range(2):
        work.end(claim, OutcomeKind.SUCCEEDED)
    await work.settle()
    assert clock.rests == [0.0, *RESTS] * 2
    assert len(receiver.exchanges) == 2 * (1 + len(RESTS))
    status[0] = 200
    work.end(claim, OutcomeKind.SUCCEEDED)
    work.end(claim, OutcomeKind.SUCCEEDED)
    await work.settle()
    told = [record.getMessage() for record in caplog.records if "check-ins" in record.getMessage()]
    assert len(told) == 2
    assert told[0].startswith("check-ins of daily report are not accepted: HTTP 503")
    assert told[1] == "check-ins of daily report are accepted again"


async def test_an_address_inside_is_refused_as_that_of_a_webhook(office, receive, caplog):
    receiver, work = await receive(answers(200, b"OK")), office(guard=Guard(allow_http=True))
    work.end(a_run(receiver.url("/p")), OutcomeKind.SUCCEEDED)
    await work.service.close()
    assert receiver.connections == 0
    assert "are not accepted" in caplog.text


async def test_what_waits_is_bounded(office, caplog):
    work = office(guard=Guard())
    claim = a_run("http://127.0.0.1:9/p")
    for _ in range(MOST_OF_JOB + 3):
        work.service.started(claim)
    assert "too many check-ins wait" in caplog.text
    assert work.service._count == MOST_OF_JOB


async def test_a_process_that_stops_sends_what_waits_once(office, receive):
    receiver, work = await receive(answers(500, b"")), office()
    for _ in range(3):
        work.end(a_run(receiver.url("/p")), OutcomeKind.SUCCEEDED)
    await work.service.close()
    assert len(receiver.exchanges) == 3


async def test_a_scheduler_checks_in_and_beats(receive):
    receiver = await receive(answers(200, b"OK"))
    scheduler = Scheduler(
        "memory://",
        settings=Settings(
            allow_http=True,
            allow_private=("127.0.0.0/8",),
            allow_ports=("1-65535",),
            heartbeat_url=receiver.url("/beat"),
        ),
    )

    @scheduler.job(check_in=receiver.url("/job"), retry=1)
    async def report(*, fails: bool) -> None:
        if fails:
            raise OSError("no space")

    async with scheduler:
        await scheduler.wait(await report.trigger(fails=False))
        await scheduler.wait(await report.trigger(fails=True))
        await receiver.received(5)
    paths = [each.line.split(" ")[1].split("?")[0] for each in receiver.exchanges]
    assert [path for path in paths if path != "/beat"] == EACH
    assert paths.count("/beat") == 1
    assert b"OSError: no space" in b"".join(each.body for each in receiver.exchanges)
