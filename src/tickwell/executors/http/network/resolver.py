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
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol


class LookupLimit:
    """Counts threads by project. A project that has none may always start one."""

    def __init__(self, per_project: int, total: int) -> None:
        self._per_project = per_project
        self._total = total
        self._busy: Counter[str] = Counter()
        self._all = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def enter(self, project: str) -> None:
        """Wait for permission; lookups of one project wait in order of arrival."""
        if project not in self._waiting and self._is_free(project):
            self._take(project)
            return
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(project, deque()).append(granted)
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled():
                self.leave(project)  # it was granted just now: pass it on
            raise

    def leave(self, project: str) -> None:
        """Let the next lookup start, round robin over projects."""
        self._busy[project] -= 1
        self._all -= 1
        if not self._busy[project]:
            del self._busy[project]
        for waiting in list(self._waiting):
            line = self._waiting[waiting]
            while line and line[0].cancelled():
                line.popleft()
            if line and not self._is_free(waiting):
                continue
            del self._waiting[waiting]
            if line:
                granted = line.popleft()
                if line:
                    self._waiting[waiting] = line
                self._take(waiting)
                granted.set_result(None)
                return

    def _is_free(self, project: str) -> bool:
        busy = self._busy[project]
        return not busy or (busy < self._per_project and self._all < self._total)

    def _take(self, project: str) -> None:
        self._busy[project] += 1
        self._all += 1


#: The project on whose behalf a request is made: its lookups and handshakes count for it alone.
#: Empty: Tickwell itself.
PROJECT: ContextVar[str] = ContextVar("project", default="")
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
        self._slots = LookupLimit(PER_PROJECT, TOTAL)
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
