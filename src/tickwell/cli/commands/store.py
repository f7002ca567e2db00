"""`tickwell store`: the store itself."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tickwell.cli.command import DEFAULT_STORE, Json, Store, group
from tickwell.cli.output.screen import Screen, progress

if TYPE_CHECKING:
    from tickwell.services.store_copy import Tally

app = group("store", "Migrate, back up, copy and verify the store.")


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


From = Annotated[str, typer.Argument(metavar="FROM", help="URL of the store to copy.")]
To = Annotated[str, typer.Argument(metavar="TO", help="URL of the empty store to fill.")]
Live = Annotated[bool, typer.Option("--live", help="Copy even while processes use the stores.")]
#: Records after which a line tells how far it is, where no terminal shows it.
PER_LINE = 50_000


@app.command()
def copy(*, source: From, target: To, live: Live = False, as_json: Json = False) -> None:
    """Copy everything into another, empty store; stop all services first."""
    import asyncio

    from tickwell.cli.config.configuration import configure
    from tickwell.cli.connection.store_connection import check_there
    from tickwell.services.keyring.source import key_file, key_path

    settings = configure(source).settings
    check_there(source)
    if target.startswith("memory:"):
        check_there(target)
    screen = Screen()
    names, tallies = asyncio.run(_copy(screen, source, target, live=live))
    if as_json:
        screen.json(
            {
                "from": names[0],
                "to": names[1],
                "kinds": {
                    kind: {"count": each.count, "digest": each.hex}
                    for kind, each in tallies.items()
                },
            }
        )
        return
    counts = ", ".join(f"{each.count:,} {kind}" for kind, each in tallies.items())
    screen.say(f"Copied {names[0]} to {names[1]} and verified it: {counts}.")
    keys = key_path(settings)
    if keys is not None and keys.exists():
        screen.say(
            f"The server keys are not in it. Copy {keys} to {key_file(target)}, where a service on"
            " the copy looks for them"
        )


async def _copy(
    screen: Screen, source: str, target: str, *, live: bool
) -> tuple[tuple[str, str], dict[str, Tally]]:
    """The names of both stores, and what was copied."""
    from tickwell.services.store_copy import StoreCopy
    from tickwell.wiring import leave_missing, make_store

    stores = make_store(source), make_store(target)
    leave_missing(stores[0])
    async with AsyncExitStack() as stack:
        for store in stores:
            await store.open()
            stack.push_async_callback(store.close)
        copying = StoreCopy(*stores)
        await copying.prepare(live=live)
        if copying.continues:
            screen.say("An earlier copy was interrupted; continuing where it stopped.")
        total = await copying.total()
        with _steps(screen, "Copying", total) as told:
            told(copying.done)
            await copying.copy(told)
        with _steps(screen, "Verifying", total) as told:
            tallies = await copying.verify(told)
    return (stores[0].name, stores[1].name), tallies


@contextmanager
def _steps(screen: Screen, label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, a line now and then elsewhere."""
    done = 0
    with progress(screen, label, total) as update:

        def told(count: int) -> None:
            nonlocal done
            before, done = done, done + count
            update(count)
            if not screen.is_watched and done // PER_LINE > before // PER_LINE:
                screen.say(f"{label}: {done:,} of {total:,}")

        yield told


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
    """Test a store: contract, contention, kills and skew, in scratch tables next to your data."""
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
