"""`tickwell calendars`: days that jobs share by the name of a calendar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes
from tickwell.errors import InvalidInput

app = group("calendars", "Manage holidays and other days that triggers name.")
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name, as triggers use it, e.g. it-holidays.")
]
Country = Annotated[
    str | None, typer.Option(metavar="CODE", help="Public holidays of this country, e.g. IT")
]
Subdivision = Annotated[
    str | None, typer.Option(metavar="CODE", help="Part of the country, e.g. BY of DE")
]
DateOption = Annotated[
    list[str] | None, typer.Option("--date", metavar="DAY", help="2026-12-24; may be repeated")
]
RangeOption = Annotated[
    list[str] | None,
    typer.Option("--range", metavar="FROM/TO", help="2026-12-28/2026-12-31; may be repeated"),
]


@command(app, "list")
async def list_calendars(session: Session) -> None:
    """List calendars by name."""
    page = await session.client.list_calendars()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            each["name"],
            str(each["version"]),
            "-".join(filter(None, (each["country"], each["subdivision"]))) or "none",
            str(len(each["holidays"]) + len(each["dates"]) + len(each["ranges"])),
            max(
                [
                    *each["holidays"],
                    *each["dates"],
                    *(each_range.partition("/")[2] for each_range in each["ranges"]),
                ]
            ),
        )
        for each in page["items"]
    ]
    session.screen.table(
        ("NAME", "VERSION", "COUNTRY", "ENTRIES", "LAST DAY"), rows, soft=("NAME",)
    )
    if not rows:
        session.screen.say("No calendars. Add one: tickwell calendars put NAME --country IT")


@command(app, "show")
async def show(session: Session, *, name: Name) -> None:
    """Show the days of a calendar."""
    found = await session.client.get_calendar(name)
    if session.as_json:
        session.screen.json(found)
        return
    for day in sorted([*found["holidays"], *found["dates"], *found["ranges"]]):
        session.screen.data(day)


@command(app, "put")
async def put(
    session: Session,
    *,
    name: Name,
    country: Country = None,
    subdivision: Subdivision = None,
    date: DateOption = None,
    range: RangeOption = None,
) -> None:
    """Add a calendar or replace its days; jobs that use it change at once."""
    saved = await session.client.put_calendar(
        name,
        country=country,
        subdivision=subdivision,
        dates=date or [],
        ranges=range or [],
    )
    if session.as_json:
        session.screen.json(saved)
        return
    _say_saved(session, saved)


@command(app, "renew")
async def renew(
    session: Session,
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name; without it, all with a country.")
    ] = None,
) -> None:
    """Compute public holidays again, ten years ahead; run it once a year."""
    page = await session.client.list_calendars()
    chosen = [
        each for each in page["items"] if each["country"] and (name is None or each["name"] == name)
    ]
    if name is not None and not chosen:
        found = await session.client.get_calendar(name)
        raise InvalidInput(f"{found['name']} has no country, so it has no public holidays")
    saved = [
        await session.client.put_calendar(
            each["name"],
            country=each["country"],
            subdivision=each["subdivision"],
            dates=each["dates"],
            ranges=each["ranges"],
        )
        for each in chosen
    ]
    if session.as_json:
        session.screen.json({"items": saved})
        return
    for one in saved:
        _say_saved(session, one)
    if not saved:
        session.screen.say("No calendar has a country. Add one: tickwell calendars put NAME …")


@command(app, "rm")
async def delete(session: Session, *, name: Name, yes: Yes = False) -> None:
    """Delete a calendar; refused while a job uses it."""
    session.confirm(f"Delete {name}?", yes=yes)
    await session.client.delete_calendar(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {name}.")


def _say_saved(session: Session, saved: Mapping[str, Any]) -> None:
    name, version = saved["calendar"]["name"], saved["calendar"]["version"]
    jobs = saved["jobs"]
    fire = "1 job fires" if jobs == 1 else f"{jobs} jobs fire"
    session.screen.say(f"Saved {name}, version {version}. {fire} by it from now on.")
    for job, reason in saved["refused"].items():
        session.screen.say(f"Note: {job} keeps the former days: {reason}")
