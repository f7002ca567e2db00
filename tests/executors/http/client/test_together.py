"""Webhooks through the whole: scheduler, store, engine, receiver."""

import asyncio
import subprocess
import sys

import pytest

from tests.executors.http.receiver import answers
from tickwell import Call, Http, Retry, Scheduler, Settings, State
from tickwell.events import AttemptsFinished, JobPaused

OPEN = Settings(
    allow_http=True,
    allow_private=("127.0.0.0/8",),
    allow_ports=("1-65535",),
    poll="200ms",
    lead="0s",
)


@pytest.fixture
async def scheduler():
    async with Scheduler("memory://", settings=OPEN) as scheduler:
        yield scheduler


def heard(scheduler, kind):
    """Events of a kind, from now on."""
    events: asyncio.Queue = asyncio.Queue()

    def listen(event):
        if isinstance(event, kind):
            events.put_nowait(event)

    scheduler.subscribe(listen)
    return events


async def test_handlers_and_webhooks_run_side_by_side(scheduler, receive):
    receiver = await receive()
    await scheduler.add_job("hook", None, Http(receiver.url()), payload={"n": 1})
    finished = heard(scheduler, AttemptsFinished)
    execution = await scheduler.trigger("hook")
    await finished.get()
    execution = await scheduler.get_execution(execution.id)
    assert (execution.state, execution.result["status"]) == (State.SUCCEEDED, 200)
    assert receiver.last.headers["webhook-id"] == execution.id
    assert receiver.last.body == b'{"n":1}'


async def test_a_receiver_that_is_gone_pauses_the_job(scheduler, receive):
    receiver = await receive(answers(410))
    await scheduler.add_job("hook", None, Http(receiver.url()))
    paused = heard(scheduler, JobPaused)
    execution = await scheduler.trigger("hook")
    assert (await paused.get()).why == "answered 410 Gone"
    execution = await scheduler.get_execution(execution.id)
    assert execution.state is State.DEAD
    assert (execution.error or "").startswith("HTTP 410 Gone")


async def test_attempts_follow_each_other_under_one_id(scheduler, receive):
    receiver = await receive()

    async def second_time(exchange):
        first = len(receiver.exchanges) == 1
        headers = ["Retry-After: 0"] if first else []
        await answers(503 if first else 200, headers=headers)(exchange)

    receiver.behaviour = second_time
    await scheduler.add_job("hook", None, Http(receiver.url()), retry=Retry(delay="1h"))
    finished = heard(scheduler, AttemptsFinished)
    execution = await scheduler.trigger("hook")
    for _ in range(2):
        await finished.get()
    execution = await scheduler.get_execution(execution.id)
    assert (execution.state, execution.attempt) == (State.SUCCEEDED, 2)
    ids = {exchange.headers["webhook-id"] for exchange in receiver.exchanges}
    attempts = [exchange.headers["tickwell-attempt"] for exchange in receiver.exchanges]
    assert (ids, attempts) == ({execution.id}, ["1", "2"])


def test_importing_tickwell_loads_no_client():
    code = """
import sys, tickwell
from tickwell import Http, Scheduler
Http("https://example.com/")
Scheduler("memory://")
loaded = {"aiohttp", "yarl", "fastapi", "structlog", "asyncpg", "cryptography"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_an_engine_without_webhooks_loads_none_either():
    code = """
import asyncio, sys
from tickwell import Scheduler
async def main():
    async with Scheduler("memory://"):
        pass
asyncio.run(main())
assert "aiohttp" not in sys.modules
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-W", "error", "-c", code)
    assert await process.wait() == 0


def test_a_target_goes_to_the_executor_of_its_kind():
    from tickwell.executors.registry import Registry
    from tickwell.ports.executor import Sort

    class One:
        def __init__(self, **abilities):
            self.can = {Sort(sort): frozenset(names) for sort, names in abilities.items()}

        def abilities(self):
            return self.can

        async def refusal(self, job):
            return ""

        def prepare(self, job):
            """Nothing is made ready."""

        async def run(self, claim):
            return self

        async def close(self):
            """Nothing is held open."""

    registry = Registry({Call: One(task={"call:a"}, thread={"call:b"}), Http: One(task={"http"})})
    assert registry.abilities() == {
        Sort.TASK: frozenset({"call:a", "http"}),
        Sort.THREAD: frozenset({"call:b"}),
    }
