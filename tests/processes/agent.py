"""A process under test: an engine on a store that tells its events on standard output.

    python -m tests.processes.agent '{"store": "…", "journal": "…", …}'

Ends by SIGTERM, after a drain, as `tickwell serve` does.
"""

import asyncio
import importlib
import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.processes.faulty_store import (
    Counted,
    DropReplies,
    Faults,
    FaultyStore,
    Halt,
    Outage,
    ShiftedClock,
)
from tests.processes.handlers import RecordingHandlers
from tests.processes.journal import Journal
from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.event import (
    AttemptsFenced,
    AttemptsFinished,
    Event,
    Events,
    StepFailed,
    Triggered,
)
from tickwell.engine.engine import Engine
from tickwell.executors.call import CallExecutor
from tickwell.ports.executor import Executor
from tickwell.settings import Settings
from tickwell.wiring import loop_factory, make_dispatcher, make_executor, make_store


@dataclass
class Orders:
    """What the process is told."""

    store: str
    journal: str
    settings: dict[str, Any] = field(default_factory=dict)
    roles: list[str] = field(default_factory=lambda: ["planner", "worker"])
    #: Answers that are lost after the commit: method and number.
    drop_replies: dict[str, int] = field(default_factory=dict)
    #: The event loop stands still before the first call of this method, until SIGCONT comes.
    halt_before: str | None = None
    #: While this file exists, the store is away.
    outage: str | None = None
    #: Holds the milliseconds by which the store's clock is off.
    clock: str | None = None
    #: It sends webhooks as well.
    webhooks: bool = False
    #: Tell health, store calls and memory every so many seconds.
    report_every: float = 0.0


class Agent:
    """The engine, and what is said about it."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.clock = StoreClock()
        self.counted = Counted()
        self.faults: list[Faults] = [self.counted]
        self.faults += [DropReplies(*each) for each in orders.drop_replies.items()]
        self.outage = Outage(Path(orders.outage)) if orders.outage else None
        if self.outage:
            self.faults.append(self.outage)
        if orders.halt_before:
            self.faults.append(Halt(orders.halt_before, say))
        if orders.clock:
            self.faults.append(ShiftedClock(Path(orders.clock)))

    async def run(self) -> None:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, stopping.set)
        store = self._store()
        await store.open()
        engine = self._engine(store)
        engine.events.subscribe(self._on_event)
        await engine.start()
        for fault in self.faults:
            if isinstance(fault, DropReplies):
                fault.armed = True
        reporting = asyncio.create_task(self._report(engine))
        await stopping.wait()
        say("Stopping", at=time.monotonic_ns())
        reporting.cancel()
        await engine.stop()
        await store.close()

    def _store(self) -> Any:
        return FaultyStore(make_store(self.orders.store), *self.faults)

    def _engine(self, store: Any) -> Engine:
        orders = self.orders
        # Where the store's clock jumps, a call is early by the clock that the engine has of it.
        now = self.clock.now if orders.clock else wall_millis
        handlers = RecordingHandlers(Journal(Path(orders.journal)), now).registered()
        # JSON knows no tuples.
        told: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in orders.settings.items()
        }
        settings, events = Settings(store=orders.store, **told), Events()
        executor: Executor = CallExecutor(handlers)
        if orders.webhooks:
            executor = make_executor(store, handlers, self.clock, settings)
        is_dispatching = settings.engine == "celery" and "planner" in orders.roles
        return Engine(
            store,
            executor,
            self.clock,
            settings,
            random=random.SystemRandom(),
            events=events,
            roles=orders.roles,
            notifier=store,
            open_pulse_store=self._store,
            extra=[make_dispatcher(store, self.clock, settings)] if is_dispatching else [],
        )

    async def _report(self, engine: Engine) -> None:
        while self.orders.report_every:
            health = engine.health()
            say(
                "Report",
                ok=health.ok,
                problems=health.problems,
                in_hand=health.in_hand,
                backlog=health.backlog,
                calls=sum(self.counted.calls.values()),
                refused=self.outage.refused if self.outage else 0,
                tasks=len(asyncio.all_tasks()),
            )
            await asyncio.sleep(self.orders.report_every)

    def _on_event(self, event: Event) -> None:
        details: dict[str, Any] = {}
        if isinstance(event, AttemptsFinished | Triggered):
            return  # thousands a second, and the store has them
        if isinstance(event, AttemptsFenced):
            details["reports"] = [[each.claim.id, each.claim.attempt] for each in event.reports]
        elif isinstance(event, StepFailed):
            details = {"service": event.service, "error": repr(event.error)}
        else:
            details = {
                name: getattr(event, name)
                for name in type(event).__slots__
                if isinstance(getattr(event, name), str | int | float | list)
            }
        say(type(event).__name__, **details)


def say(event: str, **details: Any) -> None:
    line = json.dumps({"event": event, **details}, default=str).encode() + b"\n"
    while line:  # with PYTHONUNBUFFERED a print that a signal interrupts loses its end
        line = line[os.write(1, line) :]


def break_if_asked() -> None:
    """A test that hunts a broken variant has its processes broken as well."""
    if "VARIANT" in os.environ:
        import pytest  # a fifth of the time that an agent takes to start

        plugin = importlib.import_module("tests.variants.plugin")
        plugin.break_production(pytest.MonkeyPatch())


def main() -> None:
    break_if_asked()
    orders = Orders(**json.loads(sys.argv[1]))
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(Agent(orders).run())
    say("Gone")


if __name__ == "__main__":
    main()
