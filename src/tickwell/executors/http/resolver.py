"""Names to addresses: asked of the operating system, so that hosts files and search domains count.

Each lookup has a thread of its own. It cannot be stopped: a name whose server is silent keeps its
thread until the operating system gives up, often for half a minute. So a project has a number of
them, and a caller waits `LIMIT` at most. See decision 13.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tickwell.executors.http.lookup_slots import LookupSlots
from tickwell.executors.http.project import PROJECT

#: Seconds that a caller waits for a name.
LIMIT = 5.0
#: Lookups under way at once, of one project and of all.
PER_PROJECT, TOTAL = 8, 256
#: Seconds that a failure is remembered: less than the pause before the first retry.
FAILURE_LIFE = 3.0
MOST_FAILURES = 10_000

Ask = Callable[[str], Sequence[str]]


class Resolver(Protocol):
    """Finds the addresses of a name."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Every address, as text; `OSError` when there is none."""
        ...


def ask_system(host: str) -> Sequence[str]:
    """Every address that the operating system has for a name. Blocks."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


@dataclass(eq=False, slots=True)
class _Lookup:
    began: float
    answer: asyncio.Future[Sequence[str]]
    #: Those that asked for it.
    projects: set[str] = field(default_factory=set)


class SystemResolver:
    """What the operating system answers, within limits for each project."""

    def __init__(
        self, ask: Ask = ask_system, *, monotonic: Callable[[], float] | None = None
    ) -> None:
        self._ask = ask
        self._monotonic = monotonic or _loop_time
        self._slots = LookupSlots(PER_PROJECT, TOTAL)
        #: The latest lookup of a name.
        self._under_way: dict[str, _Lookup] = {}
        #: By project: what one project broke is not broken for another.
        self._failures: dict[tuple[str, str], tuple[float, OSError]] = {}

    async def resolve(self, host: str) -> Sequence[str]:
        try:
            async with asyncio.timeout(LIMIT):
                lookup = await self._look_up(PROJECT.get(), host)
                # Shielded: who gives up must not take the answer from those who still wait.
                return await asyncio.shield(lookup.answer)
        except TimeoutError:
            raise OSError(f"{host} was not resolved within {LIMIT:g} s") from None

    async def _look_up(self, project: str, host: str) -> _Lookup:
        lookup = self._known(project, host)
        if lookup is None:
            await self._slots.enter(project)
            with contextlib.ExitStack() as stack:
                stack.callback(self._slots.leave, project)
                lookup = self._known(project, host)  # another one may have asked meanwhile
                if lookup is None:
                    lookup = self._start(project, host)
                    stack.pop_all()  # the slot is the thread's now
        lookup.projects.add(project)
        return lookup

    def _known(self, project: str, host: str) -> _Lookup | None:
        """A lookup to wait for; `OSError` if it is known to be in vain."""
        now = self._monotonic()
        if (failure := self._failures.get((project, host))) is not None:
            failed_at, error = failure
            if now - failed_at < FAILURE_LIFE:
                raise type(error)(*error.args)
            del self._failures[project, host]
        lookup = self._under_way.get(host)
        if lookup is None or now - lookup.began < LIMIT:
            return lookup
        if project in lookup.projects:
            raise OSError(f"{host} was asked for {now - lookup.began:.0f} s ago, without an answer")
        return None  # it stalls for another project, which says nothing about a new lookup

    def _start(self, project: str, host: str) -> _Lookup:
        loop = asyncio.get_running_loop()
        lookup = _Lookup(self._monotonic(), loop.create_future())

        def run() -> None:
            answer: Sequence[str] | Exception
            try:
                answer = self._ask(host)
            except Exception as error:  # noqa: BLE001 - handed to those who wait
                answer = error
            with contextlib.suppress(RuntimeError):  # the loop has ended, and no caller waits
                loop.call_soon_threadsafe(self._end, project, host, lookup, answer)

        # Daemons: a process that ends does not wait for a name that stalls.
        thread = threading.Thread(target=run, name="tickwell-resolver", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            raise OSError(f"{host} cannot be looked up: {error}") from None
        self._under_way[host] = lookup
        return lookup

    def _end(
        self, project: str, host: str, lookup: _Lookup, answer: Sequence[str] | Exception
    ) -> None:
        self._slots.leave(project)
        if self._under_way.get(host) is lookup:
            del self._under_way[host]
        if not isinstance(answer, Exception):
            lookup.answer.set_result(answer)
            return
        if isinstance(answer, OSError):
            self._remember(lookup.projects, host, answer)
        lookup.answer.set_exception(answer)
        lookup.answer.exception()  # all who waited may have given up: that is no mistake of ours

    def _remember(self, projects: set[str], host: str, error: OSError) -> None:
        if len(self._failures) >= MOST_FAILURES:
            self._failures.clear()
        now = self._monotonic()
        for project in projects:
            self._failures[project, host] = now, error


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
