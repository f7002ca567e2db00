"""`tickwell members`: who may do what in a project."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.pages import Yes
from tickwell.errors import NotFound

app = group("members", "Say who may do what in a project.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A user; tickwell users list.")]


@command(app, "list")
async def list_members(session: Session) -> None:
    """List members and their roles."""
    page = await (await session.backend.administration()).members_list()
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
    """Make a user a member, or give a member another role."""
    administration = await session.backend.administration()
    before: set[str] = set()
    with suppress(NotFound):  # a platform admin need not be a member to name an admin
        before = {each["name"] for each in (await administration.members_list())["items"]}
    made = await administration.members_set(name, role)
    if session.as_json:
        session.screen.json(made)
        return
    session.screen.say(f"{name} is {role} now.")
    if name not in before:
        session.screen.say(
            f"Should they be new here, this lets them in: tickwell users link {name}"
        )


@command(app, "rm")
async def remove(session: Session, *, name: Name, yes: Yes = False) -> None:
    """Take a member's rights in the project away."""
    session.confirm(f"Take all rights in the project from {name}?", yes=yes)
    await (await session.backend.administration()).members_remove(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"{name} is no member any more.")
