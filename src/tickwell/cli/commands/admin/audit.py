"""`tickwell audit`: who did what, and whether the log of it is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.exits import Code
from tickwell.cli.options.times import Cursor, say_rest

app = group("audit", "Read and check the audit log.")

Platform = Annotated[
    bool,
    typer.Option(
        "--platform", metavar="", help="The platform's log: users, projects, queues, sessions."
    ),
]


@command(app, "list")
async def list_entries(
    session: Session,
    *,
    platform: Platform = False,
    limit: Annotated[
        int, typer.Option(min=1, max=100, metavar="N", help="Maximum number of rows.")
    ] = 50,
    cursor: Cursor = None,
) -> None:
    """List changes with actor and record, newest first; --json has before and after."""
    read = session.client.list_platform_audit if platform else session.client.list_audit
    page = await read(cursor=cursor, limit=limit)
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (each["at"], each["actor"], each["action"], each["subject"], each["address"] or "")
        for each in page["items"]
    ]
    session.screen.table(("AT", "WHO", "DID", "TO", "FROM"), rows, soft=("WHO", "TO"))
    say_rest(session, page, "No changes recorded yet.")


@command(app, "verify")
async def verify(
    session: Session,
    *,
    platform: Platform = False,
) -> None:
    """Check that no entry was changed, and print the newest hash; exit code 1 if one was."""
    client = session.client
    found = await (client.verify_platform_audit() if platform else client.verify_audit())
    if session.as_json:
        session.screen.json(found)
    else:
        whole = found["problem"] or "no entry is changed, missing or inserted"
        session.screen.say(f"{_entries(found['entries'])}: {whole}.")
        if found["head"]:
            session.screen.data(found["head"])
    if found["problem"]:
        raise typer.Exit(Code.FAILED)


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"
