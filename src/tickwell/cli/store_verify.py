"""`tickwell store verify`: starts the process that tries a store and cleans up after itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tickwell.cli.command import DEFAULT_STORE, Json

#: As in `tickwell.testing.verify`, which stands above the command line and is not imported here.
SUITES = ("contract", "contention", "kill", "skew")
MODULE = "tickwell.testing.verify"

Url = Annotated[
    str | None,
    typer.Argument(metavar="URL", help="The store.", show_default=DEFAULT_STORE),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer fires, and the core of the contract only.")
]
Suites = Annotated[
    list[str] | None,
    typer.Option("--suite", metavar="NAME", help=f"Only this one, of {', '.join(SUITES)}."),
]


def verify(
    *, url: Url = None, quick: Quick = False, suite: Suites = None, as_json: Json = False
) -> None:
    """Try a store with contract, contention, kill and skew, in a scratch place beside your data."""
    from tickwell.cli.configuration import configure

    orders = {
        "url": configure(url).settings.store,
        "suites": suite or SUITES,
        "quick": quick,
        "as_json": as_json,
    }
    raise typer.Exit(run(orders))


def run(orders: dict[str, Any]) -> int:
    """The exit code of the process that does it."""
    command = [sys.executable, "-m", MODULE]
    # Not by the arguments: they can be read by everybody on the host, and the URL has a password.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)  # noqa: S603
    with process, _passing_on(process):
        process.communicate(json.dumps(orders) + "\n")
    return process.returncode


@contextmanager
def _passing_on(process: subprocess.Popen[str]) -> Iterator[None]:
    """Whoever asks this process to stop asks that one, which has something to take away first."""

    def pass_on(number: int, _: object) -> None:
        process.send_signal(number)

    before = {each: signal.signal(each, pass_on) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
