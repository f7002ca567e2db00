"""A store with something wrong before or after its calls."""

import inspect
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tickwell.errors import StoreUnavailable


class Faults:
    """Nothing is wrong. `before` runs ahead of a call, `after` once its effect is durable."""

    async def before(self, method: str) -> None:
        """Raise, and the call is never made."""

    async def after(self, method: str, answer: Any) -> Any:
        """Raise, and the answer never arrives."""
        return answer


class FaultyStore:
    """Passes everything on to a store, through the faults."""

    def __init__(self, inner: Any, *faults: Faults) -> None:
        self._inner = inner
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(found) or name in {"open", "close"}:
            return found
        return self._through(name, found)

    def _through(
        self, name: str, method: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, **keywords: Any) -> Any:
            for fault in self._faults:
                await fault.before(name)
            answer = await method(*args, **keywords)
            for fault in self._faults:
                answer = await fault.after(name, answer)
            return answer

        return call


class DropReplies(Faults):
    """The first so many answers of a method that hold something are lost after the commit."""

    def __init__(self, method: str, times: int) -> None:
        self.method = method
        self.times = times
        #: A process that cannot start says so and ends; what is tried is one that runs.
        self.armed = False

    async def after(self, method: str, answer: Any) -> Any:
        if self.armed and method == self.method and answer and self.times > 0:
            self.times -= 1
            raise StoreUnavailable("the connection was reset before the answer came")
        return answer


class Outage(Faults):
    """No call gets through while a file exists; how many were tried is counted."""

    def __init__(self, switch: Path) -> None:
        self.switch = switch
        self.refused = 0

    async def before(self, method: str) -> None:
        if self.switch.exists():
            self.refused += 1
            raise StoreUnavailable("the store is away")


class ShiftedClock(Faults):
    """The store's clock is off by what a file says, in milliseconds."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def after(self, method: str, answer: Any) -> Any:
        return answer + self.offset() if method == "ping" else answer

    def offset(self) -> int:
        return int(self.path.read_text() or 0) if self.path.exists() else 0


class Halt(Faults):
    """The event loop stands still before the first call of a method, until the process was frozen.

    The test freezes it from outside (`Site.freeze`): a process that stopped itself could do so
    while another of its threads is in a transaction, and a file stays locked by a frozen process.
    """

    def __init__(self, method: str, say: Callable[[str], None]) -> None:
        self.method = method
        self.say = say
        self.continued = False

    async def before(self, method: str) -> None:
        if method != self.method:
            return
        self.method = ""
        signal.signal(signal.SIGCONT, self._on_continue)
        self.say("Halted")
        while not self.continued:
            time.sleep(0.01)  # noqa: ASYNC251 - on purpose; the pulse has a thread of its own

    def _on_continue(self, _number: int, _frame: Any) -> None:
        self.continued = True


class Counted(Faults):
    """How often each method was called."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    async def before(self, method: str) -> None:
        self.calls[method] = self.calls.get(method, 0) + 1
