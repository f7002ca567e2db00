"""Start guard: keeps the event loop free around the instants at which held attempts start.

Decision 21 lists what each of its measures gains.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING, Any

from tickwell.clock import Clock

if TYPE_CHECKING:
    from tickwell.domain.outcome import Outcome
    from tickwell.engine.running.attempt import Attempt

#: From this number of attempts on, those of one instant or of one project count as a crowd.
CROWD = 20
#: Milliseconds before the instant of a small project from which the event loop is held still. One
#: in a hundred iterations of the event loop takes longer than this, most of it without a core.
HOLD_WITHIN = 4
#: After the event loop was held, it is free for this many times as long: held 10 % at most.
FREE_AFTER_HOLD = 9
#: While a crowd starts, its results wait this many seconds at most, or until this many batches
#: wait. Written meanwhile, they took a fifth of the time of the starts still to come. As many
#: batches as are claimed ahead: with 4, 10,000 on PostgreSQL were late by a quarter more.
RESULTS_WAIT, RESULTS_BATCHES = 0.25, 20
#: New objects after which Python collects garbage by itself in a process of our own, and after
#: which we make it collect between two instants. Collecting takes 1 µs for each object.
COLLECT_ANYWHERE, COLLECT_BETWEEN = 20_000, 4_000
#: Collections of a generation after which the next older generation is collected too.
OLDER_GENERATIONS = 20
#: Milliseconds before the next instant in which no garbage is collected.
COLLECT_NOT_WITHIN = 30


class StartGuard:
    """Makes other work of the process wait while attempts start.

    The start timer asks it how to wake an attempt, and to hold the event loop or collect garbage;
    the runner defers results with it, and the reporter asks it whether reports wait.
    """

    def __init__(self, clock: Clock, batch: int) -> None:
        self.clock = clock
        #: Receives deferred results; set by the runner.
        self.tell: Callable[[Attempt, Outcome, int], None] = lambda _attempt, _outcome, _at: None
        #: Whether garbage is worth collecting now. A simulation replaces it: how much garbage
        #: there is depends on what the process did before.
        self.is_garbage_due: Callable[[], bool] = is_garbage_due
        #: Until when the starts of a crowd come first, monotonic.
        self.starting_until = float("-inf")
        self._most_waiting = RESULTS_BATCHES * batch
        self._free_until = float("-inf")
        self._results: list[tuple[Attempt, Outcome, int]] = []
        #: How many results there were one iteration of the event loop ago.
        self._seen = 0

    def make_signal(self, alike: int) -> asyncio.Future[None]:
        """A future that starts a held attempt, the nth of its project at its instant."""
        loop = asyncio.get_running_loop()
        # The plain one for a crowd: 10,000 started at once were 10 ms later with the other.
        return ImmediateFuture(loop=loop) if alike < CROWD else loop.create_future()

    def hold_loop(self, instant: int) -> None:
        """Run nothing else until the instant: what is sent to a store takes the core for 2 to 4 ms.

        At most a tenth of the time; otherwise this returns at once.
        """
        began = self.clock.monotonic()
        if began >= self._free_until:
            self.clock.hold_until(instant)
            ended = self.clock.monotonic()
            self._free_until = ended + FREE_AFTER_HOLD * (ended - began)

    def put_starts_first(self, count: int) -> None:
        """Attempts start now; for a crowd, results and reports wait until most have started."""
        if count >= CROWD:
            self.starting_until = self.clock.monotonic() + RESULTS_WAIT

    def reports_wait(self, pending: int, oldest: int) -> float:
        """Seconds for which pending reports wait; `oldest` is when the first attempt ended.

        Crowds that follow each other do not make a report wait any longer.
        """
        left = self.starting_until - self.clock.monotonic()
        waited = (self.clock.now() - oldest) / 1000
        return left if pending < self._most_waiting and waited < RESULTS_WAIT else 0.0

    @property
    def has_deferred(self) -> bool:
        """Whether results wait to be told."""
        return bool(self._results)

    def defer(self, attempt: Attempt, outcome: Outcome, at: int) -> None:
        """Tell a result once an iteration of the event loop has added none, or too many wait."""
        self._results.append((attempt, outcome, at))
        if len(self._results) == 1:
            self._check_again()

    def tell_deferred(self) -> None:
        """Tell the deferred results now, in their order."""
        results, self._results = self._results, []
        for attempt, outcome, at in results:
            self.tell(attempt, outcome, at)

    def _check_again(self) -> None:
        self._seen = len(self._results)
        asyncio.get_running_loop().call_soon(self._check)

    def _check(self) -> None:
        if self._seen < len(self._results) < self._most_waiting:
            self._check_again()
        else:
            self.tell_deferred()

    def collect_after_starts(self, next_instant: Callable[[], int | None]) -> None:
        """Collect garbage after the first steps of what starts now, unless an instant is near.

        Collecting holds the event loop for 5 ms and more.
        """
        if self.is_garbage_due():
            asyncio.get_running_loop().call_soon(self._collect_before, next_instant)

    def _collect_before(self, next_instant: Callable[[], int | None]) -> None:
        instant = next_instant()
        if instant is None or instant > self.clock.now() + COLLECT_NOT_WITHIN:
            collect_now()


class ImmediateFuture(asyncio.Future[None]):
    """A future whose single waiting task continues within `set_result`.

    Woken as usual the task queues behind whatever is ready, 80 attempts of a crowd perhaps, and
    what they send to a store: 3 ms for the last of a small project.
    """

    #: What continues the task, and in which context.
    _waiter: tuple[Callable[[Any], object], Context] | None = None

    def add_done_callback(
        self, fn: Callable[[Any], object], /, *, context: Context | None = None
    ) -> None:
        """Remember the task that waits."""
        if context is not None:
            self._waiter = fn, context
        super().add_done_callback(fn, context=context)

    def set_result(self, result: None, /) -> None:
        """Continue the waiting task before this returns; from within another task, as usual."""
        if self._waiter is None or asyncio.current_task() is not None:
            super().set_result(result)
            return
        continue_task, context = self._waiter
        self.remove_done_callback(continue_task)
        super().set_result(result)
        context.run(continue_task, self)


def collect_rarely() -> None:
    """Make Python collect garbage less often, for a process that runs nothing but Tickwell.

    A worker makes many objects and few cycles: collecting after every 700 new ones took a tenth of
    its time. What exists at the start is never collected.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_ANYWHERE, OLDER_GENERATIONS, OLDER_GENERATIONS)


def is_garbage_due() -> bool:
    """Whether Python would collect soon; never in a program that set its own thresholds."""
    return gc.get_count()[0] > COLLECT_BETWEEN and gc.get_threshold()[0] == COLLECT_ANYWHERE


def collect_now() -> None:
    """Make Python collect now.

    Not by `gc.collect`: Python knows which of the older generations are worth collecting.
    """
    gc.set_threshold(COLLECT_BETWEEN, OLDER_GENERATIONS, OLDER_GENERATIONS)
    _make_object()
    gc.set_threshold(COLLECT_ANYWHERE, OLDER_GENERATIONS, OLDER_GENERATIONS)


def _make_object() -> set[object]:
    """A new object makes Python compare with its threshold; lists come from a free list."""
    return set()
