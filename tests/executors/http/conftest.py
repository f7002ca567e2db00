"""An executor that may reach the receivers of these tests, and claims for it."""

import asyncio
import socket
import ssl
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import pytest

from tests.executors.http.receiver import Receiver, answers
from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.execution import Claim, Kind
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.trigger import OnDemand
from tickwell.executors.http.executor import HttpExecutor
from tickwell.executors.http.network.guard import Guard
from tickwell.wiring import loop_factory

FIRE_TIME = 1_763_240_000_123
LOCAL: dict[str, Any] = {
    "allow_http": True,
    "allow_private": ["127.0.0.0/8"],
    "allow_ports": ["1-65535"],
}
#: One for all that need none of their own: reading the system's authorities takes 40 ms.
CONTEXT = ssl.create_default_context()
_numbers = count(1)


def pytest_asyncio_loop_factories(config, item):
    """Sockets and TLS differ from loop to loop: the standard one, and the one of the engine."""
    return {"asyncio": asyncio.new_event_loop, "engine": loop_factory()}


def a_claim(target, payload=None, *, policies=None, **fields):
    job = Job(
        id=f"0197c0de-0000-7000-8000-{next(_numbers):012x}",
        name="daily report",
        trigger=OnDemand(),
        target=target,
        **(policies or {}),
    )
    given = {
        "id": f"0197c0de-1111-8000-8000-{next(_numbers):012x}",
        "job": job,
        "kind": Kind.FIRE,
        "attempt": 1,
        "charged": 1,
        "lost": 0,
        "returned": 0,
        "fire_time": FIRE_TIME,
        "run_at": FIRE_TIME,
        "payload": payload,
        "deadline": FIRE_TIME,
        "worker": "w",
        "claim_id": "c",
    }
    return Claim(**(given | fields))


class Names:
    """A resolver that answers from a list, and remembers who asked."""

    def __init__(self, **known):
        self.known = {name.replace("_", "."): answer for name, answer in known.items()}
        self.asked: list[str] = []

    async def resolve(self, host):
        self.asked.append(host)
        answer = self.known.get(host)
        if answer is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answer.pop(0) if isinstance(answer[0], list) else answer


@pytest.fixture
def clock():
    clock = StoreClock()
    clock.sample(wall_millis(), clock.monotonic(), clock.monotonic())
    return clock


@pytest.fixture
async def make_executor(clock):
    made = []

    def make(*, guard=None, **options):
        options = {"make_context": lambda: CONTEXT} | options
        executor = HttpExecutor(clock, guard or Guard(**LOCAL), **options)
        made.append(executor)
        return executor

    yield make
    for executor in made:
        await executor.close()


@pytest.fixture
async def executor(make_executor):
    return make_executor()


@pytest.fixture
async def receive():
    """Starts receivers, and ends them with the test."""
    async with AsyncExitStack() as stack:

        async def start(behaviour=None, **options):
            receiver = Receiver(behaviour or answers(), **options)
            return await stack.enter_async_context(receiver)

        yield start


@pytest.fixture
def send(executor, receive):
    """One webhook to a receiver that behaves so: its outcome and the receiver."""

    async def send(behaviour=None, *, path="/", payload=None, claim=None, **fields):
        receiver = await receive(behaviour)
        target = Http(receiver.url(path), **{"timeout": "100s"} | fields)
        outcome = await executor.run(a_claim(target, payload, **(claim or {})))
        return outcome, receiver

    return send
