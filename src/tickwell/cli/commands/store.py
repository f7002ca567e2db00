"""`tickwell store`: the store itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from tickwell.cli.command import DEFAULT_STORE, Json, Store, group
from tickwell.cli.output.screen import Screen, progress

app = group("store", "Migrate, back up and verify the store.")


@app.command()
def migrate(*, store: Store = None, as_json: Json = False) -> None:
    """Create the store if it is missing, and bring its schema up to date."""
    import asyncio

    from tickwell.cli.config.configuration import configure
    from tickwell.wiring import make_store

    async def open_it() -> str:
        opened = make_store(configure(store).settings.store)
        await opened.open()
        await opened.close()
        return opened.name

    screen, name = Screen(), asyncio.run(open_it())
    if as_json:
        screen.json({"store": name})
    else:
        screen.say(f"{name} is up to date.")


@app.command()
def backup(
    *,
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write; it must not exist.")
    ],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Copy a SQLite store to a file while it is in use; complete, or not at all."""
    from tickwell.cli.config.configuration import configure
    from tickwell.cli.connection.store_connection import check_there
    from tickwell.services.keyring.source import key_file, key_path
    from tickwell.wiring import backup_store

    settings = configure(store).settings
    url = settings.store
    check_there(url)
    screen, done = Screen(), 0
    with progress(screen, "Copying", 100) as update:

        def on_step(copied: int, total: int) -> None:
            nonlocal done
            share = 100 * copied // max(total, 1)
            update(share - done)
            done = share

        size = backup_store(url, target, on_step)
    if as_json:
        screen.json({"file": str(target), "bytes": size})
        return
    screen.say(f"Copied {size:,} bytes to {target}. Use it: --store sqlite:///{target}")
    keys = key_path(settings)
    if keys is not None and keys.exists():
        screen.say(
            f"The server keys are not in it: {keys} has them, keep a copy of it elsewhere."
            f" A service on the copy looks for them in {key_file(f'sqlite:///{target}')}"
        )


#: As in `tickwell.testing.verify`, which stands above the command line and is not imported here.
SUITES = ("contract", "contention", "kill", "skew")
MODULE = "tickwell.testing.verify"

Url = Annotated[
    str | None,
    typer.Argument(metavar="URL", help="URL of the store.", show_default=DEFAULT_STORE),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer fires, and only the core of the contract.")
]
Suites = Annotated[
    list[str] | None,
    typer.Option("--suite", metavar="NAME", help=f"Only this suite: {', '.join(SUITES)}."),
]


@app.command()
def verify(
    *, url: Url = None, quick: Quick = False, suite: Suites = None, as_json: Json = False
) -> None:
    """Test a store by contract, contention, kill and skew, in scratch tables next to your data."""
    from tickwell.cli.config.configuration import configure

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
    """Pass a signal to stop on to the child process, which has to clean up first."""

    def pass_on(number: int, _: object) -> None:
        process.send_signal(number)

    before = {each: signal.signal(each, pass_on) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
