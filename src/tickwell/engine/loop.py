"""The one loop: step, rest, step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Protocol, runtime_checkable

from tickwell.clock import Clock
from tickwell.domain.event import Event, Events, Listener, StepFailed, StepRecovered
from tickwell.ids import spread

#: The first rest after a failed step, and the longest: a store that is away is asked rarely.
FIRST_REST = 0.1
LONGEST_REST = 5.0
#: Steps without a rest that follow each other at once: a claim is sent before what the last one
#: handed over is started, and the store works while that runs.
IN_A_ROW = 20


class Service(Protocol):
    """Something that a loop drives, step by step."""

    name: str

    async def step(self) -> float:
        """Do what is due; answer the seconds to rest."""
        ...


class WakingService(Service, Protocol):
    """A service from outside of the engine, which is told how to wake its loop."""

    wake: Callable[[], None]


@runtime_checkable
class ClosingService(Protocol):
    """A service that has something to give up when the engine stops."""

    async def close(self) -> None:
        """Called after the last step, while the store is still open."""
        ...


class Loop:
    """Runs one service until stopped. A failed step is reported and backed off, never fatal."""

    def __init__(
        self, service: Service, clock: Clock, events: Events, longest_rest: float = LONGEST_REST
    ) -> None:
        self.service = service
        self.clock = clock
        self.events = events
        self.longest_rest = longest_rest
        self.wake = asyncio.Event()
        self.failures = 0
        self.error: Exception | None = None
        #: When the last step ended that did not fail, in milliseconds of the store's time.
        self.stepped_at: int | None = None
        #: When the step under way began.
        self._began: float | None = None
        self._again = asyncio.Event()
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """End after the step under way."""
        self._stopped.set()
        self._again.set()
        self.wake.set()

    def try_again(self) -> None:
        """The store answers: repeat a failed step now instead of when its rest is over."""
        if self.failures:
            self._again.set()

    def trouble(self, patience: float) -> str | None:
        """What is wrong now: a step that has not come back for so long, or that failed."""
        began = self._began
        if began is not None and (gone := self.clock.monotonic() - began) > patience:
            return f"a step has not come back for {gone:.0f} s"
        return None if self.error is None else str(self.error)

    async def run(self) -> None:
        """Step and rest until stopped."""
        in_a_row = 0
        while not self._stopped.is_set():
            self.wake.clear()  # before the step, so that no wake-up is lost
            self._again.clear()
            rest = await self._step()
            _end_if_cancelled()
            in_a_row = in_a_row + 1 if rest <= 0 else 0
            if not self._stopped.is_set() and in_a_row % IN_A_ROW == 0:
                # Wake-ups do not cut the rest of a failing service short: the store is away.
                await self.clock.wait(self._again if self.failures else self.wake, rest)

    async def _step(self) -> float:
        self._began = self.clock.monotonic()
        try:
            rest = await self.service.step()
        except Exception as error:  # noqa: BLE001 - a loop outlives whatever its service raises
            self.failures += 1
            self.error = error
            rest = backoff(self.failures, self.service.name, self.longest_rest)
            self.events.emit(
                StepFailed(
                    service=self.service.name, error=error, failures=self.failures, rest=rest
                )
            )
            return rest
        finally:
            self._began = None
        self.stepped_at = self.clock.now()
        if self.failures:
            self.events.emit(StepRecovered(service=self.service.name, failures=self.failures))
            self.failures, self.error = 0, None
        return rest


def _end_if_cancelled() -> None:
    """Drivers use `asyncio.wait_for`, which forgets a cancel that meets an answer (until 3.12)."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def follow(leader: str, loops: Collection[Loop]) -> Listener:
    """Once the leader recovers the store is back: what failed meanwhile is tried at once."""

    def on_event(event: Event) -> None:
        if isinstance(event, StepRecovered) and event.service == leader:
            for loop in loops:
                loop.try_again()

    return on_event


def backoff(failures: int, seed: str, longest: float = LONGEST_REST) -> float:
    """Seconds to rest: doubling, capped, spread so that services do not come back in step."""
    doublings = min(failures - 1, 10)
    rest = min(FIRST_REST * (1 << doublings), longest)
    return rest * (0.75 + spread(f"{seed}:{failures}", 500) / 1000)
