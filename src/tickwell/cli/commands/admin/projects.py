"""`tickwell projects`: the tenants that jobs belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes

app = group("projects", "Create, list, limit, pause and delete projects.")
All = Annotated[bool, typer.Option("--all", help="All projects (platform admins only).")]


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


@command(app, "limits")
async def set_limits(
    session: Session,
    *,
    running: Annotated[
        int | None, typer.Option(min=0, help="Running attempts in all workers; 0: no limit.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=0, help="Jobs; 0: no limit.")] = None,
    fires_per_day: Annotated[
        int | None, typer.Option(min=0, help="Fires on the busiest day; 0: no limit.")
    ] = None,
    fires_per_minute: Annotated[
        int | None, typer.Option(min=0, help="Fires in the busiest minute; 0: no limit.")
    ] = None,
    requests_per_minute: Annotated[
        int | None, typer.Option(min=0, help="API requests per minute; 0: no limit.")
    ] = None,
    changes_per_minute: Annotated[
        int | None, typer.Option(min=0, help="Changing requests per minute; 0: no limit.")
    ] = None,
    runs_per_minute: Annotated[
        int | None, typer.Option(min=0, help="Requested runs per minute; 0: no limit.")
    ] = None,
    payload: Annotated[
        int | None, typer.Option(min=0, help="Payload size in bytes; 0: no limit.")
    ] = None,
) -> None:
    """Show the limits of the project, or set some of them (platform admins only)."""
    given = {
        "jobs": jobs,
        "fires_per_day": fires_per_day,
        "fires_per_minute": fires_per_minute,
        "requests_per_minute": requests_per_minute,
        "changes_per_minute": changes_per_minute,
        "runs_per_minute": runs_per_minute,
        "running": running,
        "payload": payload,
    }
    changed = {limit: value for limit, value in given.items() if value is not None}
    found: Mapping[str, Any] = await session.client.get_limits()
    if changed:
        name, limits = await session.connection.project(), dict(found) | changed
        found = await session.client.set_limits(name, **limits)
    if session.as_json:
        session.screen.json(found)
        return
    rows = [(limit, f"{value:,}" if value else "no limit") for limit, value in found.items()]
    session.screen.table(("LIMIT", "VALUE"), rows, soft=())


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


@command(app, "pause")
async def pause(
    session: Session,
    *,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown to people.")] = "",
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When to resume: a time, or a delay such as 2h."),
    ] = None,
    everything: All = False,
) -> None:
    """Keep all jobs of the project from firing; with --all, those of every project."""
    from tickwell.cli.options.times import read_time
    from tickwell.services.documents import instant_text

    end = None if until is None else read_time(until, "until", await session.now(), ahead=True)
    moment = None if end is None else instant_text(end)
    act = session.client.pause_platform if everything else session.client.pause_project
    done = await act(note=why, until=moment)
    if session.as_json:
        session.screen.json(done)
        return
    session.screen.say(f"Paused {_whole(everything)}.")
    if done["withdrawn"] or done["cancelling"]:
        session.screen.say(
            f"Taken back: {done['withdrawn']}. Asked to give up: {done['cancelling']}."
        )
    session.screen.say(f"Resume: tickwell projects resume{' --all' * everything}")


@command(app, "resume")
async def resume(session: Session, *, everything: All = False) -> None:
    """Let the jobs of a paused project fire again; with --all, those of every project."""
    act = session.client.resume_platform if everything else session.client.resume_project
    done = await act()
    if session.as_json:
        session.screen.json(done)
    else:
        session.screen.say(f"Resumed {_whole(everything)}.")


def _whole(everything: bool) -> str:
    return "all projects" if everything else "the project"


def _brief(project: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": project["name"], "title": project["title"]}
