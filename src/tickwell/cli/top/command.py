"""The command itself: one frame, or one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from tickwell.cli.command import SERVICE, Session, command

if TYPE_CHECKING:
    from tickwell.cli.output.screen import Screen
    from tickwell.cli.top.snapshot import Snapshot


def register(app: typer.Typer) -> None:
    """Put the command under the root."""
    command(app, "top", panel=SERVICE)(top)


async def top(
    session: Session,
    *,
    interval: Annotated[
        float,
        typer.Option(min=0.5, max=3600, metavar="SECONDS", help="Seconds between two refreshes."),
    ] = 2.0,
    once: Annotated[
        bool,
        typer.Option("--once", metavar="", help="Print once and exit, as without a terminal."),
    ] = False,
) -> None:
    """Watch health, rates, workers, queues, running executions and failures; Ctrl-C ends it."""
    from tickwell.cli.output.screen import Screen
    from tickwell.cli.top.alternate_screen import Page
    from tickwell.cli.top.snapshot import read_snapshot
    from tickwell.cli.top.view import show

    found = await read_snapshot(session)
    if session.as_json:
        session.screen.json(found.to_document())
    elif session.screen.is_terminal and not once:
        await _watch(session, found, interval)
    else:
        page = Page()
        screen = Screen(out=page)
        screen.is_coloured = session.screen.is_coloured
        show(screen, found)
        session.screen.data(page.getvalue().rstrip("\n"))


async def _watch(session: Session, found: Snapshot, interval: float) -> None:
    from tickwell.cli.top.alternate_screen import AlternateScreen
    from tickwell.cli.top.snapshot import read_snapshot
    from tickwell.errors import TickwellError

    screen = AlternateScreen(session.screen.out)
    note = ""
    with screen.entered():
        while not screen.left.is_set():
            screen.draw(_frame(found, note))
            await screen.rest(interval)
            try:
                found, note = await read_snapshot(session), ""
            except TickwellError as error:  # it may be away for a moment only
                note = f"stale, the last refresh failed: {error}"


def _frame(found: Snapshot, note: str) -> Callable[[Screen, int], None]:
    from tickwell.cli.top.view import show

    return lambda screen, lines: show(screen, found, lines, note)
