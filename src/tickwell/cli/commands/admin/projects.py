"""`tickwell projects`: the tenants that jobs belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes

app = group("projects", "Create, list and delete projects.")


@command(app, "list")
async def list_projects(session: Session) -> None:
    """List projects (platform admins only)."""
    found = await session.client.list_projects()
    page = {"items": [_brief(each) for each in found["items"]]}
    if session.as_json:
        session.screen.json(page)
        return
    rows = [(each["name"], each["title"]) for each in page["items"]]
    session.screen.table(("NAME", "TITLE"), rows, soft=("TITLE",))


@command(app, "add")
async def add(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a-z, 0-9 and -.")],
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title, for people.")] = "",
) -> None:
    """Create a project (platform admins only)."""
    made = _brief(await session.client.create_project(name, title=title))
    if session.as_json:
        session.screen.json(made)
    else:
        session.screen.say(f"Created {name}. Use it: --project {name}")
        session.screen.say(f"Give users access: tickwell members set USER ROLE --project {name}")


@command(app, "rm")
async def delete(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, as in `projects list`.")],
    yes: Yes = False,
) -> None:
    """Delete a project with its jobs, keys, members and secrets; its name cannot be reused."""
    session.confirm(f"Delete {name} with all its jobs, secrets and keys for good?", yes=yes)
    await session.client.delete_project(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {name}. Its history stays until retention ends.")


def _brief(project: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": project["name"], "title": project["title"]}
