"""`tickwell backfill`: running what a range of the past left out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command
from tickwell.cli.jobs import Name
from tickwell.cli.pages import Yes, say_count
from tickwell.cli.progress import progress
from tickwell.cli.times import read_time, say_time


def register(app: typer.Typer) -> None:
    """Put the command under the root."""
    command(app, "backfill")(backfill)


async def backfill(
    session: Session,
    *,
    job: Name,
    since: Annotated[str, typer.Option(metavar="TIME", help="From: a time, a date, or 2d (ago).")],
    until: Annotated[str, typer.Option(metavar="TIME", help="Up to, not included.")] = "now",
    force: Annotated[
        bool, typer.Option("--force", metavar="", help="Run again what ran already.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Run the fire times of a past range that have not run, also from before the job existed."""
    from tickwell.services.documents import instant_text

    now = await session.backend.now()
    first, end = read_time(since, "since", now), read_time(until, "until", now)
    document = await session.backend.jobs_get(job)
    what = "every fire time" if force else "the fire times that have not run"
    session.confirm(
        f"Run {what} of {document['name']} from {say_time(instant_text(first))}"
        f" until {say_time(instant_text(end))}, all of them now?",
        yes=yes,
    )
    ids: list[str] = []
    left_alone = 0
    with progress(session.screen, "Backfilling", max(end - first, 1)) as update:
        while True:
            done = await session.backend.backfill(document["id"], first, end, force=force)
            ids += done["ids"]
            left_alone += done["left_alone"]
            reached = _instant(done)
            update((end if reached is None else reached) - first)
            if reached is None:
                break
            first = reached
    if session.as_json:
        session.screen.json({"ids": ids, "left_alone": left_alone, "next": None})
        return
    rest = f"; {left_alone} ran before and are left alone" if left_alone else ""
    session.screen.say(f"{say_count(len(ids), 'execution')} will run now{rest}.")
    for id in ids:
        session.screen.data(id)


def _instant(done: dict[str, Any]) -> int | None:
    from tickwell.clock import to_millis

    return None if done["next"] is None else to_millis(datetime.fromisoformat(done["next"]))
