"""A process with an engine, as in `tickwell serve`, that notes each call of its handler.

    python -m tickwell.testing.verify.agent    reads `AgentOrders` as one line on standard input

Prints `started`. Drains at SIGTERM, and exits when its standard input ends: a verification that is
killed leaves no process behind.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from random import SystemRandom
from typing import Any

from tickwell.clock import StoreClock
from tickwell.domain.event import AttemptsFenced, Event
from tickwell.engine.engine import Engine
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.executors.run import Run
from tickwell.settings import Settings
from tickwell.testing.verify.notes import BEGIN, FENCED, Notes
from tickwell.testing.verify.orders import AgentOrders, maker
from tickwell.wiring import loop_factory

#: The name of the handler that all jobs of a verification call.
HANDLER = "nap"
#: Leases of two seconds, so that a loss is noticed soon.
SETTINGS: dict[str, Any] = {
    "lease": "2s",
    "beat": "500ms",
    "sweep": "300ms",
    "poll": "500ms",
    "drain_timeout": "5s",
    "prune_every": "10d",
}


def shift_wall_clock(offset: int) -> None:
    """Shift the wall clock for everything in this process."""
    seconds, nanoseconds = time.time, time.time_ns  # noqa: TID251 - not read: set
    time.time = lambda: seconds() + offset / 1000  # noqa: TID251
    time.time_ns = lambda: nanoseconds() + offset * 1_000_000  # noqa: TID251


def make_handlers(notes: Notes) -> Handlers:
    """The handler, which notes its call before it does anything."""
    clock, never = StoreClock(), asyncio.Event()

    async def nap(seconds: float, run: Run) -> None:
        notes.write(BEGIN, run.id, run.attempt)
        await clock.wait(never, seconds)

    handlers = Handlers()
    handlers.add(HANDLER, nap)
    return handlers


async def work(orders: AgentOrders) -> None:
    """Plan, claim, run and recover until asked to stop."""
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    notes, make = Notes(orders.notes), maker(orders.make)
    store = make(orders.url)
    await store.open()
    engine = Engine(
        store,
        CallExecutor(make_handlers(notes)),
        StoreClock(),
        Settings(store=orders.url, **SETTINGS),
        random=SystemRandom(),
        notifier=store,
        open_pulse_store=lambda: make(orders.url),
    )

    def on_event(event: Event) -> None:
        if isinstance(event, AttemptsFenced):
            for report in event.reports:
                notes.write(FENCED, report.claim.id, report.claim.attempt)

    engine.events.subscribe(on_event)
    await engine.start()
    sys.stdout.write("started\n")
    sys.stdout.flush()
    await stopping.wait()
    await engine.stop()
    await store.close()


def end_with_input() -> None:
    """Exit when standard input ends, because the parent process is gone."""

    def wait() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Run an engine until SIGTERM."""
    orders = AgentOrders(**json.loads(sys.stdin.readline()))
    end_with_input()
    shift_wall_clock(orders.offset)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(work(orders))
    # A thread reads standard input, and the interpreter would wait for it.
    os._exit(0)


if __name__ == "__main__":
    main()
