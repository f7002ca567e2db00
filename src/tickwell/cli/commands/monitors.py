"""`tickwell monitors`: jobs that others run, and that check in."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Cursor, Limit, Yes, say_rest, say_time

app = group("monitors", "Watch jobs that run elsewhere (cron, CI, scripts) and check in by URL.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name or id, as in `monitors list`.")]


@command(app, "list")
async def list_monitors(session: Session, *, limit: Limit = 100, cursor: Cursor = None) -> None:
    """List monitors by name, with their status."""
    page = await session.client.list_monitors(limit=min(limit, 200), cursor=cursor)
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            each["name"],
            each["status"],
            each["schedule"],
            each["grace"],
            say_time(each["last_check_in"]) or "never",
            say_time(each["next_due"]),
        )
        for each in page["items"]
    ]
    headings = ("NAME", "STATUS", "SCHEDULE", "GRACE", "LAST CHECK-IN", "NEXT DUE")
    session.screen.table(headings, rows, soft=("NAME", "SCHEDULE"))
    say_rest(session, page, "No monitors. Add one: tickwell monitors add NAME --every 1d")


@command(app, "add")
async def add(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, e.g. backup.")],
    every: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Period from check-in to check-in: 1d.")
    ] = None,
    cron: Annotated[
        str | None, typer.Option(metavar="EXPR", help="Cron expression, as in the crontab.")
    ] = None,
    when: Annotated[
        str | None,
        typer.Option(metavar="PHRASE", help="Schedule in words: 'every weekday at 9 in Rome'."),
    ] = None,
    tz: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Time zone of --cron or --when; default UTC.")
    ] = None,
    grace: Annotated[
        str, typer.Option(metavar="DURATION", help="Time after which a check-in is missed.")
    ] = "1h",
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it is.")] = "",
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Tag; may be repeated.")
    ] = None,
) -> None:
    """Add a monitor; its ping URL is shown only once, in a line for a crontab."""
    trigger: dict[str, Any] | None = {
        key: text for key, text in (("cron", cron), ("when", when), ("tz", tz)) if text is not None
    }
    made = await session.client.create_monitor(
        name,
        trigger=trigger or None,
        every=every,
        grace=grace,
        description=description,
        tags=tag,
    )
    _show_url(session, made, f"Added {made['name']}: {made['schedule']}.")


@command(app, "show")
async def show(session: Session, *, name: Name) -> None:
    """Show a monitor with its status, the cause and its last log."""
    monitor = await session.client.get_monitor(name)
    if session.as_json:
        session.screen.json(monitor)
        return
    session.screen.record(
        [
            ("name", monitor["name"]),
            ("status", monitor["status"]),
            ("reason", monitor["last_text"] or ""),
            ("schedule", monitor["schedule"]),
            ("grace", monitor["grace"]),
            ("last check-in", say_time(monitor["last_check_in"]) or "never"),
            ("next due", say_time(monitor["next_due"])),
            ("log", monitor["last_log"] or ""),
        ]
    )


@command(app, "rotate")
async def rotate(
    session: Session,
    *,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name or id; without it, the project's ping key."),
    ] = None,
    yes: Yes = False,
) -> None:
    """Replace a ping URL, or the project's ping key; the old one stops working at once."""
    what = "the ping key of the project" if name is None else f"the ping URL of {name}"
    session.confirm(f"Replace {what}? The old one is refused at once.", yes=yes)
    if name is not None:
        made = await session.client.rotate_monitor(name)
        _show_url(session, made, f"Replaced {what}.")
        return
    key = await session.client.rotate_ping_key()
    if session.as_json:
        session.screen.json(key)
    else:
        session.screen.say("The ping key is shown only once. Put a monitor's name in its URL:")
        session.screen.data(key["ping_url"])


@command(app, "rm")
async def remove(session: Session, *, name: Name, yes: Yes = False) -> None:
    """Delete a monitor; its ping URL is refused, its history stays until retention ends."""
    monitor = await session.client.get_monitor(name)
    session.confirm(f"Delete monitor {monitor['name']}? Its ping URL is refused.", yes=yes)
    await session.client.delete_job(monitor["id"])
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {monitor['name']}.")


def _show_url(session: Session, made: Any, told: str) -> None:
    if session.as_json:
        session.screen.json(made)
        return
    session.screen.say(f"{told} Its ping URL is shown only once; add this after the command:")
    session.screen.data(f"curl -fsS -m 10 --retry 5 -o /dev/null {shlex.quote(made['ping_url'])}")
