"""`python -m tickwell.testing.verify`: what `tickwell store verify` starts."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

from tickwell.cli.exits import Code, code_of
from tickwell.cli.output.screen import Screen
from tickwell.errors import TickwellError
from tickwell.testing.verify.orders import Orders
from tickwell.testing.verify.run import verify
from tickwell.testing.verify.verdict import Verdict, show

INTERRUPTED = 130


async def _run(orders: Orders, screen: Screen) -> Verdict | None:
    """The verdict; none after a signal to stop."""
    work = asyncio.create_task(verify(orders, screen.say))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _stop, work)
    try:
        return await work
    except asyncio.CancelledError:
        return None


def _stop(work: asyncio.Task[Verdict]) -> None:
    # A second signal does not interrupt the clean-up.
    if not work.cancelling():
        work.cancel()


def main() -> int:
    """Verify a store, print the verdict, and return the exit code."""
    orders = Orders(**json.loads(sys.stdin.readline()))
    screen = Screen()
    try:
        verdict = asyncio.run(_run(orders, screen))
    except TickwellError as error:
        screen.say(f"tickwell: {error}")
        return code_of(error)
    if verdict is None:
        screen.say("Stopped.")
        return INTERRUPTED
    if orders.as_json:
        screen.json(verdict.document())
    else:
        show(screen, verdict)
    return Code.OK if verdict.ok else Code.FAILED


if __name__ == "__main__":
    sys.exit(main())
