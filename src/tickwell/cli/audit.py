"""`tickwell audit`: whether the log of who did what is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.exits import Code

app = group("audit", "Check the audit log.")


@app.callback()
def audit() -> None:
    """Check the audit log."""


@command(app, "verify")
async def verify(
    session: Session,
    *,
    platform: Annotated[
        bool,
        typer.Option("--platform", metavar="", help="The log of users, projects and sessions."),
    ] = False,
) -> None:
    """Check that no entry was changed; prints the newest hash, to note elsewhere. 1: broken."""
    found = await (await session.backend.administration()).audit_verify(platform=platform)
    if session.as_json:
        session.screen.json(found)
    else:
        whole = found["problem"] or "nothing is changed, missing or put in"
        session.screen.say(f"{_entries(found['entries'])}: {whole}.")
        if found["head"]:
            session.screen.data(found["head"])
    if found["problem"]:
        raise typer.Exit(Code.FAILED)


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"
