"""`tickwell store`: the store itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tickwell.cli.command import Json, Store, group
from tickwell.cli.progress import progress
from tickwell.cli.screen import Screen
from tickwell.cli.store_verify import verify

app = group("store", "Bring the schema up to date, copy the data, try what it promises.")


@app.command()
def migrate(*, store: Store = None, as_json: Json = False) -> None:
    """Make the store if it is missing, and bring its schema up to date."""
    import asyncio

    from tickwell.cli.configuration import configure
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
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; it must not exist.")],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Copy a SQLite store to a file while it is used; the copy is whole, or not there."""
    from tickwell.cli.configuration import configure
    from tickwell.cli.store_file import check_there
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


app.command()(verify)
