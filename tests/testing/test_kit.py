"""The pytest plugin, used as users use it."""

import asyncio
import threading
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tickwell import Cron, Every, Http, Retry, Run, Scheduler, State, Timeout
from tickwell.domain.job import JobState
from tickwell.errors import InvalidInput, NotRunning
from tickwell.testing.clock import ManualClock
from tickwell.testing.kit import Kit, Stuck

ROME = ZoneInfo("Europe/Rome")
#: Declared as an application declares it, on a store that no test should touch.
shop = Scheduler("sqlite:////nowhere/shop.db", app="shop")


@shop.job(Every("1h"))
async def restock(run: Run) -> int:
    return run.fire_time.hour


async def test_every_fire_runs_in_order_across_the_change_of_clocks(tickwell):
    tickwell.start_at(datetime(2026, 3, 28, tzinfo=UTC))
    seen = []

    @tickwell.job(Cron("30 2 * * *", tz="Europe/Rome"))
    async def nightly(run: Run) -> None:
        seen.append(tickwell.now)

    @tickwell.job(Cron("0 */6 * * *"))
    def quarterly() -> None:
        seen.append(tickwell.now)

    await tickwell.travel("3d")
    assert tickwell.now == datetime(2026, 3, 31, tzinfo=UTC)
    await tickwell.assert_ran_at(
        "nightly",
        datetime(2026, 3, 28, 2, 30, tzinfo=ROME),
        datetime(2026, 3, 29, 3, 0, tzinfo=ROME),  # 02:30 does not exist that night
        datetime(2026, 3, 30, 2, 30, tzinfo=ROME),
    )
    await tickwell.assert_ran("quarterly", times=12)
    assert seen == sorted(seen)
    assert len(seen) == 15


async def test_retries_happen_in_their_time_and_none_is_waited_for(tickwell):
    at = []

    @tickwell.job(retry=Retry(max_attempts=3, delay="10m", backoff="fixed", jitter=0))
    async def flaky() -> str:
        at.append(tickwell.now)
        if len(at) < 3:
            raise OSError
        return "done"

    await flaky.trigger()
    await tickwell.travel("1h")
    assert [(one - at[0]).total_seconds() for one in at] == [0, 600, 1200]
    await tickwell.assert_succeeded("flaky")
    [one] = await tickwell.runs("flaky")
    assert one.result == "done"


async def test_ones_own_scheduler_runs_in_memory_and_gets_its_store_back(tickwell):
    tickwell.use(shop)
    await tickwell.travel("90m")
    assert [one.result for one in await tickwell.runs("restock")] == [
        fire.hour for fire in await tickwell.fires("restock")
    ]
    await tickwell.assert_ran("restock")


def test_a_scheduler_that_was_used_has_its_store_again():
    assert shop.store_url == "sqlite:////nowhere/shop.db"
    assert not shop.is_running


async def test_time_stands_still_while_a_handler_runs(tickwell):
    @tickwell.job(Every("1h"))
    def slow(run: Run) -> bool:
        threading.Event().wait(0.05)
        return run.fire_time == tickwell.now

    await tickwell.travel("3h")
    assert [one.result for one in await tickwell.runs("slow")] == [True] * 3


async def test_time_stands_still_while_a_condition_is_asked(tickwell):
    asked = []

    def slowly() -> bool:
        threading.Event().wait(0.05)
        asked.append(tickwell.now)
        return True

    @tickwell.job(Every("1h"), only_if=slowly)
    def work(run: Run) -> bool:
        return run.fire_time == tickwell.now == asked[-1]

    await tickwell.travel("3h")
    assert [one.result for one in await tickwell.runs("work")] == [True] * 3


async def test_a_handler_that_does_not_end_is_named(tickwell):
    @tickwell.job(timeout=Timeout(soft="5m", hard="10m"), retry=Retry(max_attempts=1))
    async def hangs() -> None:
        await asyncio.Event().wait()

    await hangs.trigger()
    tickwell.clock.patience = 0.1
    await tickwell._begin()
    with pytest.raises(Stuck, match=r"hangs did not end .* travel with wait=False"):
        await tickwell.clock.advance(1)
    await tickwell.travel("10m", wait=False)
    [one] = await tickwell.runs("hangs")
    assert one.state is State.DEAD
    assert one.error == "timed out after 300 s"


async def test_webhooks_reach_the_receiver(tickwell, tickwell_receiver):
    tickwell_receiver.answer(503, 200)
    target = Http(tickwell_receiver.url("/hook"), body={"text": "hello"})
    retry = Retry(delay="1m", jitter=0)
    await tickwell.scheduler.add_job("ping", Every("1h"), target, retry=retry)
    await tickwell.travel("1h")
    assert [one.path for one in tickwell_receiver.requests] == ["/hook"]
    await tickwell.travel("1h")
    first, again, second = tickwell_receiver.requests
    assert (first.method, first.json) == ("POST", {"text": "hello"})
    assert first.id == again.id != second.id
    await tickwell.assert_succeeded()


async def test_a_410_pauses_the_job(tickwell, tickwell_receiver):
    tickwell_receiver.answer(410)
    await tickwell.scheduler.add_job("ping", Every("1h"), Http(tickwell_receiver.url()))
    await tickwell.travel("1d")
    assert len(tickwell_receiver.requests) == 1
    assert (await tickwell.scheduler.get_job("ping")).state is JobState.PAUSED


async def test_assertions_say_what_happened_instead(tickwell):
    tickwell.start_at(datetime(2026, 1, 1, tzinfo=UTC))

    @tickwell.job(Every("1h"), retry=Retry(max_attempts=1))
    async def broken() -> None:
        raise OSError("no route")

    await tickwell.travel("2h")
    with pytest.raises(AssertionError, match=r"'broken' ran 2 times, not 3 times: 2026-01-01 01"):
        await tickwell.assert_ran("broken", times=3)
    with pytest.raises(AssertionError, match="; expected 2026-01-01 01:00 UTC"):
        await tickwell.assert_ran_at("broken", datetime(2026, 1, 1, 1, tzinfo=UTC))
    with pytest.raises(AssertionError, match=r"is dead: (?s:.*)no route"):
        await tickwell.assert_succeeded("broken")


async def test_nothing_that_ran_is_no_success(tickwell):
    @tickwell.job(Every("1h"))
    async def hourly() -> None: ...

    @tickwell.job()
    async def asked() -> None: ...

    await tickwell.travel("30m")
    await tickwell.assert_ran("hourly", times=0)
    never = r"^'hourly' did not run; it fires next at 2026-06-21 01:00 UTC$"
    for claim in (
        tickwell.assert_ran("hourly"),
        tickwell.assert_ran("hourly", times=2),
        tickwell.assert_succeeded("hourly"),
    ):
        with pytest.raises(AssertionError, match=never):
            await claim
    with pytest.raises(AssertionError, match=r"^'asked' did not run$"):
        await tickwell.assert_ran("asked")
    with pytest.raises(AssertionError, match=r"^nothing ran$"):
        await tickwell.assert_succeeded()


@pytest.mark.parametrize("given", ["503", 100, 600, None])
def test_a_receiver_answers_by_what_ends_a_request(tickwell_receiver, given):
    with pytest.raises(InvalidInput, match=r"^answer: .* is nothing to answer with"):
        tickwell_receiver.answer(200, given)


async def test_misuse_is_refused(tickwell):
    with pytest.raises(InvalidInput, match="travel: 'far' is not a duration"):
        await tickwell.travel("far")
    module: Any = pytest
    with pytest.raises(InvalidInput, match=r"^use: .* is no Scheduler\. .*shop\.scheduler"):
        tickwell.use(module)
    await tickwell.settle()
    past = r"^moment: 2026-01-01 00:00 UTC is over, it is 2026-06-21 00:00 UTC\. .* start_at\(\)"
    with pytest.raises(InvalidInput, match=past):
        await tickwell.travel_to(datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(NotRunning):
        tickwell.start_at(datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(NotRunning):
        tickwell.use(shop)


async def test_months_take_no_time(tickwell):
    @tickwell.job(Cron("0 0 1 * *"))
    async def monthly() -> None: ...

    await tickwell.travel("92d")
    await tickwell.assert_ran("monthly", times=3)


async def test_a_name_that_nobody_declared_is_told_from_those_that_are(tickwell):
    with pytest.raises(AssertionError, match=r"^no job 'report' yet; let time begin first"):
        await tickwell.assert_ran("report")
    await tickwell.settle()
    with pytest.raises(AssertionError, match=r"^no job 'report'; there is none$"):
        await tickwell.assert_ran("report")
    tickwell.job(name="report")(lambda: None)
    await tickwell.settle()
    with pytest.raises(AssertionError, match=r"^no job 'reprot'; did you mean 'report'\?$"):
        await tickwell.assert_ran("reprot")


async def test_a_dashboard_that_is_mounted_does_not_look_for_its_own_store(
    tickwell, tmp_path, caplog
):
    scheduler = Scheduler(f"sqlite:///{tmp_path}/shop.db")
    scheduler.asgi()
    tickwell.use(scheduler)
    await tickwell.settle()
    assert scheduler.is_running
    assert not caplog.records


def test_time_goes_on_in_a_second_event_loop():
    kit, ran = Kit(), []

    @kit.job(Every("1h"))
    async def report() -> None:
        ran.append(kit.now)

    asyncio.run(kit.travel("2h"))
    asyncio.run(kit.travel("3h"))
    assert len(ran) == 5
    asyncio.run(kit.assert_ran("report", 5))
    asyncio.run(kit.scheduler.stop())


async def test_a_wait_shorter_than_time_is_counted_lets_time_pass():
    """Where it did not, a service that waits for an instant looked again for ever."""
    clock = ManualClock()
    await clock.advance(7198.4)
    target = clock.monotonic() + 1e-9

    async def until_then():
        while clock.monotonic() < target:
            await clock.wait(asyncio.Event(), target - clock.monotonic())

    waiting = asyncio.ensure_future(until_then())
    await clock.advance(1.0)
    assert waiting.done()


async def test_the_clock_of_the_store_may_be_set_on_the_way(tickwell):
    @tickwell.job(Cron("0 * * * *"))
    async def report() -> None: ...

    await tickwell.travel("1h")
    tickwell.clock.jump(5.0)
    await tickwell.travel("1h")
    await tickwell.assert_ran("report", times=2)
