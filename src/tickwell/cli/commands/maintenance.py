"""`tickwell maintenance`: windows in which jobs do not fire."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes, read_time, say_time

app = group("maintenance", "Plan maintenance windows, in which jobs do not fire.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name, as in `maintenance list`.")]
All = Annotated[bool, typer.Option("--all", help="All projects (platform admins only).")]


@command(app, "list")
async def list_windows(session: Session) -> None:
    """List windows: first those that are on, then those to come."""
    page = await session.client.list_maintenance()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            each["name"],
            each["status"],
            say_time(each["start"]) or "none",
            say_time(each["end"]) or "none",
            "all projects" if each["scope"] == "platform" else "project",
            ", ".join(each["tags"]) or "any",
            ", ".join(each["queues"]) or "any",
            each["note"],
        )
        for each in page["items"]
    ]
    headings = ("NAME", "STATUS", "START", "END", "OF", "TAGS", "QUEUES", "WHY")
    session.screen.table(headings, rows, soft=("NAME", "WHY"))
    if not rows:
        session.screen.say("No maintenance windows. Add: tickwell maintenance put NAME --for 2h")


@command(app, "put")
async def put(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, e.g. database-move.")],
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="Start: a time, or a delay such as 10m; default now."
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="End, when jobs fire again.")
    ] = None,
    length: Annotated[
        str | None, typer.Option("--for", metavar="DURATION", help="Length, e.g. 2h.")
    ] = None,
    cron: Annotated[
        str | None,
        typer.Option(metavar="EXPR", help="Recurring starts, e.g. '0 2 * * sun'."),
    ] = None,
    when: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help="Recurring starts in words: 'every sunday at 2'."),
    ] = None,
    tz: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Time zone of --cron or --when; default UTC.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Jobs with this tag; may be repeated.")
    ] = None,
    queue: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Jobs of this queue; may be repeated.")
    ] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown to people.")] = "",
    everything: All = False,
) -> None:
    """Add a window, or replace it: its fire times are skipped."""
    from tickwell.services.documents import instant_text

    now = await session.now()
    trigger: dict[str, Any] = {
        key: text for key, text in (("cron", cron), ("when", when), ("tz", tz)) if text is not None
    }
    client = session.client
    act = client.put_platform_maintenance if everything else client.put_maintenance
    made = await act(
        name,
        start=None if start is None else instant_text(read_time(start, "from", now, ahead=True)),
        end=None if until is None else instant_text(read_time(until, "until", now, ahead=True)),
        trigger=trigger or None,
        length=length,
        tags=tag,
        queues=queue,
        note=why,
    )
    if session.as_json:
        session.screen.json(made)
        return
    verb = "is on" if made["status"] == "on" else f"begins {say_time(made['start'])},"
    session.screen.say(f"Maintenance {name} {verb} until {say_time(made['end'])}.")


@command(app, "end")
async def end(session: Session, *, name: Name, everything: All = False) -> None:
    """End a window that is on; jobs fire again."""
    client = session.client
    act = client.end_platform_maintenance if everything else client.end_maintenance
    ended = await act(name)
    if session.as_json:
        session.screen.json(ended)
        return
    again = f" It begins again {say_time(ended['start'])}." if ended["start"] else ""
    session.screen.say(f"Ended {name}.{again}")


@command(app, "rm")
async def remove(
    session: Session, *, name: Name, everything: All = False, yes: Yes = False
) -> None:
    """Delete a window; skipped fire times stay skipped."""
    session.confirm(f"Delete maintenance window {name}?", yes=yes)
    client = session.client
    act = client.delete_platform_maintenance if everything else client.delete_maintenance
    await act(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {name}.")
