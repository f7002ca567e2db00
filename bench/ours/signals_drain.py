"""Drains a store as a service does: `python -m bench.ours.signals_drain WHERE COUNT on|off`.

On: metrics are counted, lines at info and above are written, and spans are made by the API of
OpenTelemetry without an SDK. Off: none of it.
"""

import asyncio
import logging
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from bench.ours.process import run, url_of
from tickwell.domain.execution import State
from tickwell.events import AttemptsFinished, Event
from tickwell.observe.log_output.output import start_log
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings


async def drain(where: str, count: int, *, signals: bool) -> dict[str, float]:
    """Start, drain, stop; say how long the draining took."""
    with Path(os.devnull).open("wb") as lines:  # noqa: ASYNC230 - nothing runs yet
        if signals:
            start_log("json", "info", descriptor=lines.fileno())
            import_module("opentelemetry.trace")  # as in an application that may set up an SDK
        else:
            logging.disable()
        scheduler = Scheduler(url_of(where), settings=Settings(metrics=signals))
        if signals:
            scheduler.metrics()
        handled = written = 0
        done = asyncio.Event()

        @scheduler.job(name="noop")
        async def noop(text: str) -> None:
            nonlocal handled
            handled += len(text) > 0

        def hear(event: Event) -> None:
            nonlocal written
            if isinstance(event, AttemptsFinished):
                written += sum(report.state is State.SUCCEEDED for report in event.reports)
                if written >= count:
                    done.set()

        scheduler.subscribe(hear)
        await scheduler.open()
        begin, cpu = time.time(), time.process_time()
        await scheduler.start()
        await done.wait()
        seconds, cpu = time.time() - begin, time.process_time() - cpu
        await scheduler.stop()
    return {"handled": handled, "written": written, "seconds": seconds, "cpu": cpu}


if __name__ == "__main__":
    place, many, how = sys.argv[1:]
    run(drain(place, int(many), signals=how == "on"))
