"""`tickwell users`: who may log in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes

app = group("users", "Manage users.")


@command(app, "list")
async def list_users(session: Session) -> None:
    """List users (platform admins only)."""
    page = await session.client.list_users()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [(each["name"], _may(each)) for each in page["items"]]
    session.screen.table(("NAME", "MAY"), rows, soft=("NAME",))


@command(app, "add")
async def add(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, e.g. an e-mail address.")],
    platform: Annotated[
        bool, typer.Option("--platform", help="Make them a platform admin.")
    ] = False,
) -> None:
    """Add a user without a project (platform admins only)."""
    made = await session.client.create_user(name, platform=platform)
    if session.as_json:
        session.screen.json(made)
        return
    session.screen.say(
        f"Added {name}. Next: tickwell members set {name} ROLE, and tickwell users link {name}"
    )


@command(app, "rm")
async def delete(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, as in `users list`.")],
    yes: Yes = False,
) -> None:
    """Remove a user from all projects and end their sessions (platform admins only)."""
    session.confirm(f"Remove user {name}?", yes=yes)
    await session.client.remove_user(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Removed user {name}.")


@command(app, "link")
async def link(
    session: Session,
    *,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the user; the first one is `local`.")
    ],
    address: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Public URL of the dashboard, if it differs."),
    ] = None,
) -> None:
    """Create a link that logs a user in, once and within 15 minutes."""
    made = await session.client.make_login_link(name)
    if address is not None:
        made["link"] = f"{address.rstrip('/')}/login{made['link'].rpartition('/login')[2]}"
    if session.as_json:
        session.screen.json(made)
        return
    session.screen.say(f"Logs {name} in, once, within 15 minutes:")
    session.screen.data(made["link"])


def _may(user: Mapping[str, Any]) -> str:
    if user["disabled"]:
        return "nothing: locked out"
    return "administer the platform" if user["platform"] else "log in"
