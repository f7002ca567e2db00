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

#: Seconds in which a process has started on the slowest machine.
START = 60.0
#: How much of what a process complained about is repeated.
_TAIL = 500


async def begin(
    module: str, orders: AgentOrders | ContractOrders, errors: IO[bytes] | int = DEVNULL
) -> Process:
    """Start a module; a Ctrl-C at the terminal does not reach it, for it is ended by us."""
    # Not by the arguments: they can be read by everybody on the host, and the URL has a password.
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
    """-9, and gone when this returns."""
    if process.returncode is None:
        process.kill()
    await process.wait()


class Crew:
    """Engines on one store."""

    def __init__(self, orders: AgentOrders, errors: Path) -> None:
        self.orders = orders
        self._errors = errors
        self._members: list[Process] = []

    async def start(self, offset: int = 0) -> Process:
        """One more, at work when this returns."""
        orders = AgentOrders(**asdict(self.orders) | {"offset": offset})
        with self._errors.open("ab") as errors:
            process = await begin("agent", orders, errors)
        self._members.append(process)
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        async with asyncio.timeout(START):
            said = await process.stdout.readline()
        if said != b"started\n":
            why = self._errors.read_text(errors="replace").strip()[-_TAIL:].rpartition("\n")[2]
            raise StoreUnavailable(f"a process of the verification did not start: {why}")
        return process

    async def start_many(self, count: int) -> list[Process]:
        """Several at once."""
        return list(await asyncio.gather(*(self.start() for _ in range(count))))

    async def dismiss(self) -> None:
        """End all of them."""
        for process in self._members:
            await end(process)


@asynccontextmanager
async def crew(orders: AgentOrders, errors: Path) -> AsyncIterator[Crew]:
    """Nobody at first, and nobody at the end."""
    made = Crew(orders, errors)
    try:
        yield made
    finally:
        await made.dismiss()


def freeze(process: Process) -> None:
    """As a machine that is suspended."""
    process.send_signal(signal.SIGSTOP)


def thaw(process: Process) -> None:
    """Goes on as if nothing had happened."""
    process.send_signal(signal.SIGCONT)
