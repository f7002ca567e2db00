"""The processes of a verification: started, killed, frozen; none outlives it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from tickwell.errors import StoreUnavailable
from tickwell.testing.verify.orders import AgentOrders, ContractOrders

#: Seconds after which a process must have started, even on a slow machine.
START_TIMEOUT = 60.0
#: Characters of a process's errors that a message repeats.
_TAIL = 500


async def begin(
    module: str, orders: AgentOrders | ContractOrders, errors: IO[bytes] | int = DEVNULL
) -> Process:
    """Start a module in a session of its own, which Ctrl-C in the terminal does not reach."""
    # Not as arguments: every user of the host can read them, and the URL has a password.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"tickwell.testing.verify.{module}"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=errors,
        start_new_session=True,
    )
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.write(json.dumps(asdict(orders)).encode() + b"\n")
    await process.stdin.drain()
    return process


async def end(process: Process) -> None:
    """Kill the process, and wait until it has ended."""
    if process.returncode is None:
        process.kill()
    await process.wait()


class Processes:
    """Processes with engines on one store."""

    def __init__(self, orders: AgentOrders, errors: Path) -> None:
        self.orders = orders
        self._errors = errors
        self._started: list[Process] = []

    async def start(self, offset: int = 0) -> Process:
        """Start one, and wait until it works."""
        orders = AgentOrders(**asdict(self.orders) | {"offset": offset})
        with self._errors.open("ab") as errors:
            process = await begin("agent", orders, errors)
        self._started.append(process)
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        async with asyncio.timeout(START_TIMEOUT):
            first_line = await process.stdout.readline()
        if first_line != b"started\n":
            why = self._errors.read_text(errors="replace").strip()[-_TAIL:].rpartition("\n")[2]
            raise StoreUnavailable(f"a process of the verification did not start: {why}")
        return process

    async def start_many(self, count: int) -> list[Process]:
        """Start several."""
        return list(await asyncio.gather(*(self.start() for _ in range(count))))

    async def end_all(self) -> None:
        """Kill all of them."""
        for process in self._started:
            await end(process)


@asynccontextmanager
async def processes(orders: AgentOrders, errors: Path) -> AsyncIterator[Processes]:
    """No process at first, and none at the end."""
    made = Processes(orders, errors)
    try:
        yield made
    finally:
        await made.end_all()


def freeze(process: Process) -> None:
    """Stop it, as a suspended machine would."""
    process.send_signal(signal.SIGSTOP)


def thaw(process: Process) -> None:
    """Continue it."""
    process.send_signal(signal.SIGCONT)
