"""`tickwell backfill`: running what a range of the past left out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command
from tickwell.cli.commands.jobs import Name
from tickwell.cli.options.times import Yes, read_time, say_count, say_time
from tickwell.cli.output.screen import progress
from tickwell.cli.output.views import Document

#: Executions of one backfill, unless more are asked for: `--every 1s` has as many in a day.
MOST = 100_000


def register(app: typer.Typer) -> None:
    """Put the command under the root."""
    command(app, "backfill")(backfill)


async def backfill(
    session: Session,
    *,
    job: Name,
    since: Annotated[str, typer.Option(metavar="TIME", help="Start: a time, a date, or 2d (ago).")],
    until: Annotated[
        str, typer.Option(metavar="TIME", help="End of the range, not included.")
    ] = "now",
    force: Annotated[
        bool,
        typer.Option("--force", metavar="", help="Run fire times again that have already run."),
    ] = False,
    most: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum; if there are more, run none of them.")
    ] = MOST,
    yes: Yes = False,
) -> None:
    """Run the fire times of a past range that have not run, even those before the job existed."""
    from tickwell.services.documents import instant_text

    now = await session.now()
    first, end = read_time(since, "since", now), read_time(until, "until", now)
    document = await session.client.get_job(await session.key(job))
    span, name = (document["id"], first, end), document["name"]
    found = await _go(session, "Counting", *span, most=most, force=force, dry_run=True)
    if found["count"]:
        which = ", also those that ran," if force else " that have not run,"
        session.confirm(
            f"Run {say_count(found['count'], 'fire time')} of {name}{which}"
            f" from {say_time(instant_text(first))} until {say_time(instant_text(end))},"
            " all now?",
            yes=yes,
        )
    done = await _go(session, "Backfilling", *span, most=None, force=force, dry_run=False)
    if session.as_json:
        session.screen.json(done)
        return
    left_alone = done["left_alone"]
    rest = f"; {left_alone} ran before and are skipped" if left_alone else ""
    session.screen.say(f"{say_count(done['count'], 'execution')} will run now{rest}.")
    for id in done["ids"]:
        session.screen.data(id)


async def _go(
    session: Session,
    label: str,
    job: str,
    first: int,
    end: int,
    *,
    most: int | None,
    force: bool,
    dry_run: bool,
) -> dict[str, Any]:
    """The whole range, part by part; who does not watch a bar is told of each part."""
    from tickwell.services.documents import instant_text

    whole: dict[str, Any] = {"ids": [], "count": 0, "left_alone": 0, "next": None}
    with progress(session.screen, label, max(end - first, 1)) as update:
        while True:
            done = await session.client.backfill_job(
                job, instant_text(first), instant_text(end), force=force, dry_run=dry_run
            )
            found: Document = done
            for name in ("ids", "count", "left_alone"):
                whole[name] += found[name]
            if most is not None and whole["count"] > most:
                raise _too_many(most, done)
            reached = _instant(done)
            update((end if reached is None else reached) - first)
            if reached is None:
                return whole
            if not session.screen.is_watched:
                session.screen.say(f"{label}: {whole['count']} so far, until {done['next']}")
            first = reached


def _too_many(most: int, done: Document) -> Exception:
    from tickwell.errors import InvalidInput

    where = f" before {done['next']} alone" if done["next"] else ""
    hint = f"Nothing was run. Choose a shorter range, or a --most above {most}"
    return InvalidInput(f"there are more than {most}{where}", field="most", hint=hint)


def _instant(done: Document) -> int | None:
    from tickwell.clock import to_millis

    return None if done["next"] is None else to_millis(datetime.fromisoformat(done["next"]))
