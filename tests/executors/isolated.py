"""Handlers that a process of its own imports; each does something that a thread could not take."""

import asyncio
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tickwell import Retry, Run, Scheduler, Timeout
from tickwell.observe.traces import current_trace_id

scheduler = Scheduler("memory://")
ONCE = Retry(max_attempts=1)
TWICE = Retry(max_attempts=2, delay="1ms", jitter=0)
SHORT = Timeout(soft="300ms", hard="600ms")


@dataclass(frozen=True)
class Pair:
    a: int
    b: int


@scheduler.job(isolation="process")
def add(pair: Pair) -> dict[str, int]:
    print("adding")  # noqa: T201 - what is tested
    return {"sum": pair.a + pair.b, "pid": os.getpid()}


@scheduler.job(isolation="process")
async def add_later(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


@scheduler.job(isolation="process", retry=ONCE)
def explode() -> None:
    raise LookupError("the cause")


@scheduler.job(isolation="process", retry=ONCE)
def leave() -> None:
    sys.exit(3)


@scheduler.job(isolation="process", retry=ONCE)
def die() -> None:
    print("last words")  # noqa: T201 - what is tested
    os.kill(os.getpid(), signal.SIGKILL)


@scheduler.job(isolation="process", retry=ONCE)
def fork() -> str:
    """Comes back twice: nobody ends the copy."""
    copy = os.fork()
    if not copy:
        return "the copy"
    os.waitpid(copy, 0)
    return "the original"


@scheduler.job(isolation="process", retry=ONCE)
def die_and_leave(note: str) -> None:
    """Leave a process in the background that has all that is open here."""
    left = subprocess.Popen(["/bin/sleep", "1000"], close_fds=False)
    Path(note).write_text(str(left.pid), "ascii")
    os.kill(os.getpid(), signal.SIGKILL)


@scheduler.job(isolation="process", retry=TWICE)
def crash() -> None:
    ctypes.string_at(0)


def limit_memory() -> None:
    """As a container would, so that a bomb takes nothing from others."""
    resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))


@scheduler.job(isolation="process", retry=TWICE)
def swell() -> None:
    limit_memory()
    held = []
    while True:
        held.append(bytearray(256 * 2**20))


@scheduler.job(isolation="process", retry=TWICE)
def multiply() -> None:
    limit_memory()
    never = threading.Event()
    for _ in range(1_000_000):
        threading.Thread(target=never.wait, daemon=True).start()


@scheduler.job(retry=ONCE)
def swell_in_thread() -> int:
    return len(bytearray(2**62))


@scheduler.job(isolation="process", retry=ONCE, timeout=SHORT)
def spin() -> None:
    while True:
        pass


@scheduler.job(isolation="process", retry=ONCE, timeout=Timeout(soft="300ms", hard="1m40s"))
def polite(run: Run) -> str:
    return "stopped" if run.cancelled.wait("100s") else "never asked"


@scheduler.job(isolation="process", retry=ONCE, timeout=Timeout(soft="300ms", hard="1m40s"))
async def polite_later() -> None:
    await asyncio.sleep(100)


@scheduler.job(isolation="process")
def tell(run: Run, hold: float = 0.0) -> list[object]:
    run.progress(0.5, "half")
    run.log.info("half done")
    time.sleep(hold)
    return [run.attempt, run.last_result.get()]


@scheduler.job(isolation="process")
def nap(run: Run) -> str:
    if run.attempt == 1:
        run.snooze("1ms")
    return "rested"


@scheduler.job(isolation="process")
def threads() -> int:
    return threading.active_count()


@scheduler.job()
def neighbour() -> str:
    return threading.current_thread().name


@scheduler.job()
async def awaited() -> int:
    return os.getpid()


def traced_span() -> str | None:
    return current_trace_id()


@scheduler.job(isolation="process", retry=TWICE)
def stepwise(run: Run) -> list[object]:
    """Die after a step; the next attempt goes on from there."""
    first = run.step("first", lambda: run.attempt)
    run.checkpoint({"at": run.attempt})
    if run.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return [first, run.last_checkpoint.get(), run.step("second", lambda: run.attempt)]


@scheduler.job(isolation="process", retry=TWICE)
async def stepwise_later(run: Run) -> list[object]:
    before = await run.last_checkpoint
    first, second = await asyncio.gather(
        run.step("first", add_later, 1, 2), run.step("second", lambda: run.attempt)
    )
    await run.checkpoint(second)
    if run.attempt == 1:
        raise RuntimeError("once more")
    return [before, first, second]


@scheduler.job(isolation="process", retry=ONCE)
def ask(run: Run) -> object:
    return run.wait_for("approval", expires="1d")


@scheduler.job(isolation="process", retry=ONCE)
async def ask_later(run: Run) -> object:
    return await run.wait_for("approval", expires="1d")
