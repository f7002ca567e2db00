"""`tickwell members`: who may do what in a project."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes
from tickwell.errors import NotFound

app = group("members", "Manage the members of a project and their roles.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name, as in `users list`.")]


@command(app, "list")
async def list_members(session: Session) -> None:
    """List members and their roles."""
    page = await session.client.list_members()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [(each["name"], each["role"]) for each in page["items"]]
    session.screen.table(("NAME", "ROLE"), rows, soft=("NAME",))
    if not rows:
        session.screen.say("No members. Add one: tickwell members set NAME operator")


@command(app, "set")
async def set_member(
    session: Session,
    *,
    name: Name,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="viewer, operator, editor or admin.")],
) -> None:
    """Add a member, or change a member's role."""
    before: set[str] = set()
    with suppress(NotFound):  # a platform admin need not be a member to name an admin
        before = {each["name"] for each in (await session.client.list_members())["items"]}
    try:
        await session.client.set_member(name, role)
    except NotFound:
        if role != "admin" or not await session.connection.appoint_admin(name):
            raise
    if session.as_json:
        session.screen.json({"name": name, "role": role})
        return
    session.screen.say(f"{name} now has the role {role}.")
    if name not in before:
        session.screen.say(f"To log a new user in: tickwell users link {name}")


@command(app, "rm")
async def remove(session: Session, *, name: Name, yes: Yes = False) -> None:
    """Remove a member from the project."""
    session.confirm(f"Remove {name} from the project?", yes=yes)
    await session.client.remove_member(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Removed {name} from the project.")
