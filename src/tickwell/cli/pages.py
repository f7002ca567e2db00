"""Options and habits of commands that list something."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tickwell.cli.command import Session

Limit = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="How many at most.")]
Cursor = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Where the list before this one ended.")
]
Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="From: a time, 2h (ago), or a date; UTC.")
]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Up to, not included.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask.")]


def say_rest(session: Session, page: dict[str, Any], empty: str) -> None:
    """What the table does not say: that it is empty and why, or that there is more."""
    following = page.get("next_cursor")
    if following and not page["items"]:
        session.screen.say(f"None so far: look further with --cursor {following}")
    elif following:
        session.screen.say(f"There is more: repeat this with --cursor {following}")
    elif not page["items"]:
        session.screen.say(empty)


def say_count(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
