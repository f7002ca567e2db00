"""`tickwell callbacks`: whom a project tells what becomes of its executions."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.config.allowing import AllowLocal, naming_the_option
from tickwell.cli.options.times import Yes

app = group("callbacks", "Manage the webhooks that report how executions end.")


@command(app, "list")
async def list_callbacks(session: Session) -> None:
    """List callbacks, without the keys that sign them."""
    page = await session.client.list_callbacks()
    if session.as_json:
        session.screen.json(page)
        return
    names = await _names(session, {each["job_id"] or "" for each in page["items"]} - {""})
    rows = [
        (each["id"], each["url"], ", ".join(each["events"]), names.get(each["job_id"] or "", "all"))
        for each in page["items"]
    ]
    session.screen.table(("ID", "URL", "EVENTS", "JOB"), rows, soft=("URL",))
    if not rows:
        session.screen.say(
            "No callbacks. Add one: tickwell callbacks add https://example.com/events"
        )


async def _names(session: Session, ids: set[str]) -> dict[str, str]:
    """What the jobs are called; one that is gone, or that may not be read, by its id."""
    from tickwell.errors import Forbidden, NotFound

    names = {id: id for id in ids}
    for id in ids:
        with suppress(NotFound, Forbidden):
            names[id] = (await session.client.get_job(id))["name"]
    return names


@command(app, "add")
async def add(
    session: Session,
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="URL that receives the events.")],
    on: Annotated[
        list[str] | None,
        typer.Option(metavar="EVENT", help="Event, e.g. dead, late or paused; may be repeated."),
    ] = None,
    job: Annotated[
        str | None, typer.Option(metavar="NAME", help="This job only; its name or id.")
    ] = None,
    allow_local: AllowLocal = False,
) -> None:
    """Add a callback for dead and recovered executions, or other events; its key is shown once."""
    if allow_local:
        session.connection.allow_local()
    with naming_the_option():
        made = await session.client.create_callback(url, on or ["dead", "recovered"], job=job)
    if session.as_json:
        session.screen.json(made)
        return
    told = ", ".join(made["events"])
    session.screen.say(f"Added {made['id']}: {told}. The key that signs it is shown only once:")
    session.screen.data(made["signing_key"])


@command(app, "rm")
async def remove(
    session: Session,
    *,
    id: Annotated[str, typer.Argument(metavar="ID", help="Id, as in `callbacks list`.")],
    yes: Yes = False,
) -> None:
    """Delete a callback."""
    session.confirm(f"Delete callback {id}? Its pending messages are dropped.", yes=yes)
    await session.client.delete_callback(id)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {id}.")
