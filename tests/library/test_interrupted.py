"""A start that comes to nothing leaves nothing behind, and nobody goes by an old clock."""

import asyncio
import threading

import pytest

from tickwell import Call, Every, Scheduler, Settings
from tickwell.clock import StoreClock, to_millis
from tickwell.declared import lifecycle
from tickwell.declared.internals import internals
from tickwell.engine.liveness.pulse import Pulse, PulseThread
from tickwell.errors import Conflict, NotRunning, StoreUnavailable
from tickwell.stores.memory import MemoryStore
from tickwell.stores.sqlite import SqliteStore

DEADLINE = 100
NOON = 1_781_524_800_000
TARGET = Call("report")


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/jobs.db"


async def enter(scheduler):
    async with scheduler:
        raise AssertionError("it is not to get this far")


async def test_a_start_that_is_cancelled_leaves_no_pulse_and_no_worker(url, monkeypatch, ours):
    scheduler, sound = Scheduler(url), Pulse.beat
    stopped, stop = [], PulseThread.stop

    async def beat(self):
        await sound(self)
        if threading.current_thread() is threading.main_thread():
            starting.cancel()  # heard where the thread of the pulse has begun

    async def stop_and_tell(self):
        await stop(self)
        stopped.append(self)

    monkeypatch.setattr(Pulse, "beat", beat)
    monkeypatch.setattr(PulseThread, "stop", stop_and_tell)
    starting = asyncio.create_task(enter(scheduler))
    async with asyncio.timeout(DEADLINE):
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert len(stopped) == 1
        assert ours() == []
        await scheduler.open()
        assert await internals(scheduler).operation_context().store.list_workers() == []
        await scheduler.stop()


async def test_a_start_that_is_refused_closes_what_it_opened(url, ours):
    for app in ("mine", "yours"):
        scheduler = Scheduler(url, app=app)
        scheduler.job(Every("1h"), name="report")(lambda: None)
        if app == "mine":
            await scheduler.open()
            await scheduler.sync()
            await scheduler.stop()
    with pytest.raises(Conflict):
        await enter(scheduler)
    assert ours() == []


async def test_a_store_whose_time_cannot_be_read_is_not_open(url, monkeypatch, ours):
    scheduler, sound = Scheduler(url), SqliteStore.ping
    away = True

    async def ping(self):
        if away:
            raise StoreUnavailable("it does not answer")
        return await sound(self)

    monkeypatch.setattr(SqliteStore, "ping", ping)
    with pytest.raises(StoreUnavailable):
        await scheduler.add_job("report", Every("1h"), TARGET)
    assert ours("tickwell-loop") == [
        "tickwell-loop"
    ]  # which answers the next call, and ends with the scheduler
    away = False
    job = await scheduler.add_job("report", Every("1h"), TARGET)
    assert to_millis(job.created_at) > NOON / 2  # and not in 1970, by a clock that was never read
    await scheduler.stop()
    assert ours() == []


async def test_who_only_asks_goes_by_the_stores_time_of_today(monkeypatch):
    monkeypatch.setattr(lifecycle, "STALE", -1.0)
    times = [NOON]
    scheduler = Scheduler("memory://")
    internals(scheduler).live_on(
        MemoryStore(lambda: times[-1]), StoreClock(), Settings(store="memory://")
    )
    before = await scheduler.add_job("before", Every("1h"), TARGET)
    times.append(NOON - 3_600_000)  # it was wrong, and somebody has set it right
    after = await scheduler.add_job("after", Every("1h"), TARGET)
    await scheduler.stop()
    assert to_millis(before.created_at) >= NOON > to_millis(after.created_at)


def test_a_signal_is_not_waited_for_in_a_thread_that_gets_none():
    refused = []

    def run():
        try:
            Scheduler("memory://").run()
        except NotRunning as error:
            refused.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(DEADLINE)
    assert len(refused) == 1
    assert "start_in_background()" in refused[0]
