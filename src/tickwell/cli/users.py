"""`tickwell users`: who may log in."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group

app = group("users", "Let people in.")


@command(app, "link")
async def link(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The user; the first one is local.")],
) -> None:
    """Make a link that logs a user in, once and within 15 minutes."""
    made = await (await session.backend.administration()).users_link(name)
    if session.as_json:
        session.screen.json(made)
        return
    session.screen.say(f"Logs {name} in, once, within 15 minutes:")
    session.screen.data(made["link"])
