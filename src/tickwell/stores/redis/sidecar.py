"""Redis alongside another store: wake-ups for every process, and one planner at a time.

It only changes how long loops wait. The store's rows decide: if this Redis is down, flushed or
frozen, every process plans and polls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from random import SystemRandom
from typing import Any

from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.outcome import Report
from tickwell.errors import StoreUnavailable
from tickwell.ports.notifier import FAILURES
from tickwell.stores.redis.client import script
from tickwell.stores.redis.connection import Command, connect
from tickwell.stores.redis.errors import DRIVER
from tickwell.stores.redis.notifier import RETRY, Bell, Ear
from tickwell.stores.redis.url import parse

#: Seconds that this Redis may take to answer: loops do not wait for a frozen one.
TIMEOUT = 1.0


class RedisNotifier:
    """`Notifier` and `PlannerLease` of the ports, for all processes on one store."""

    def __init__(self, url: str, store: str, lease: float) -> None:
        self.location = parse(url, field="notify")
        # Several stores may share a Redis; each has a channel and a planner of its own.
        digest = blake2b(store.encode(), digest_size=8).hexdigest()
        self._channel = self.location.key(f"beside:{digest}")
        self._lease_key = self.location.key(f"planner:{digest}")
        self._process = f"{SystemRandom().getrandbits(64):016x}"
        self._lease = int(lease * 1000)
        self._connect()

    def _connect(self) -> None:
        self._redis = connect(self.location, 2, TIMEOUT)
        run: Command = self._redis.execute_command
        self._run = run
        self._bell = Bell(run, self._channel, self._process)
        self._ear = Ear(self.location, self._channel, self._process)
        self._down_until = 0.0

    @property
    def hears(self) -> bool:
        """Whether notifications arrive."""
        return self._ear.hears

    def open(self) -> None:
        """Make new connections, which belong to the event loop that uses them first."""
        self._connect()

    async def close(self) -> None:
        """Stop listening, and give up the planner's lease."""
        await self._ear.close()
        with suppress(*DRIVER):
            async with asyncio.timeout(TIMEOUT):
                await self._bell.close()
                await self._eval("give_up", self._process)
        await self._redis.aclose(close_connection_pool=True)

    async def ping(self) -> None:
        """Raise unless this Redis answers."""
        try:
            async with asyncio.timeout(TIMEOUT):
                await self._run("PING")
        except DRIVER as error:
            raise StoreUnavailable(f"{self.location.name}: {str(error) or 'no answer'}") from error

    def ring(self) -> None:
        """Tell the other processes that something was written."""
        self._bell.ring()

    async def changed(self, seconds: float) -> bool:
        return await self._ear.changed(seconds)

    async def rest(self) -> float:
        loop = asyncio.get_running_loop()
        if loop.time() < self._down_until:
            return 0.0
        try:
            left = await self._eval("lease", self._process, self._lease)
        except DRIVER:
            FAILURES.count += 1
            self._down_until = loop.time() + RETRY
            return 0.0
        return int(left) / 1000

    async def _eval(self, name: str, *arguments: str | int) -> Any:
        async with asyncio.timeout(TIMEOUT):
            return await self._run("EVAL", script(name).text, 1, self._lease_key, *arguments)


class NotifyingStore:
    """Any store, whose writes are announced on a Redis."""

    def __init__(self, store: Any, notifier: RedisNotifier) -> None:
        self.store = store
        self.notifier = notifier

    def __getattr__(self, name: str) -> Any:
        found, wakes = getattr(self.store, name), _WAKES.get(name)
        if wakes is None:
            return found

        async def call(*arguments: Any, **options: Any) -> Any:
            answer = await found(*arguments, **options)
            if wakes(answer, arguments):
                self.notifier.ring()
            return answer

        return call

    async def open(self) -> None:
        await self.store.open()
        self.notifier.open()

    async def close(self) -> None:
        await self.notifier.close()
        await self.store.close()

    async def changed(self, seconds: float) -> bool:
        """Wait for a notification by this Redis, or by the store while this Redis is down."""
        if self.notifier.hears:
            return await self.notifier.changed(seconds)
        waits = [self.notifier.changed(seconds), self.store.changed(seconds)]
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return any(task.result() for task in done)


def _reports_wake(_: object, arguments: tuple[Any, ...]) -> bool:
    """Whether the end of an attempt may let another one start, or concerns a planner."""
    reports: Sequence[Report] = arguments[0]
    return any(
        report.state is State.WAITING
        or report.claim.job.concurrency is not None
        or report.claim.job.overlap not in {Overlap.SKIP, Overlap.ALLOW}
        or report.claim.job.trigger.follows_finish
        for report in reports
    )


def _has_answer(answer: object, _: object) -> bool:
    return bool(answer)


#: Whether other processes have to wake up, by the result and the arguments of a call.
_WAKES: dict[str, Callable[[Any, tuple[Any, ...]], bool]] = {
    "fire_due": lambda fired, _: fired.executions > 0,
    "promote": lambda promoted, _: promoted.queued > 0,
    "finish": _reports_wake,
    "settle": _has_answer,
    "add_jobs": _has_answer,
    "change_jobs": _has_answer,
    "add_executions": _has_answer,
    "request_cancel": _has_answer,
    "revive": _has_answer,
}
