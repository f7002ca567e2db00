"""`tickwell dead`: dead letters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.commands.executions import Id, OfJob, Payload, revive_ids
from tickwell.cli.options.times import Cursor, Limit, Since, Until, Yes, say_count, say_rest
from tickwell.cli.output.screen import progress
from tickwell.cli.output.views import show_execution, show_executions, soon
from tickwell.domain.policy import REVIVAL_RATE

#: Seconds between two reads of a revival's progress.
_POLL = 0.1
Update = Callable[[int], None]


class DeadFilter(TypedDict):
    """Which dead letters a command is about."""

    job: str | None
    since: str | None
    until: str | None
    search: str | None


app = group("dead", "List, revive and purge dead letters.")
Error = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Substring of the error (see --by-error)."),
]
All = Annotated[bool, typer.Option("--all", metavar="", help="All dead letters of the project.")]
_NONE = "No dead letters."


@command(app, "list")
async def list_dead(
    session: Session,
    *,
    job: OfJob = None,
    since: Since = None,
    until: Until = None,
    by_error: Annotated[
        bool, typer.Option("--by-error", metavar="", help="Group by error, with counts.")
    ] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List executions that have used up their attempts, newest first."""
    where = await _filter(session, job, since, until)
    if by_error:
        await _groups(session, where)
        return
    page = await session.client.list_executions(
        job=job,
        state=["dead"],
        since=where["since"],
        until=where["until"],
        cursor=cursor,
        limit=limit,
    )
    if session.as_json:
        session.screen.json(page)
        return
    show_executions(session.screen, page["items"], await session.now())
    say_rest(session, page, _NONE)


async def _groups(session: Session, where: DeadFilter) -> None:
    page = await session.client.dead_letter_groups(**where)
    screen = session.screen
    if session.as_json:
        screen.json(page)
        return
    now = await session.now()
    rows = [
        (
            str(each["count"]),
            str(each["jobs"]),
            soon(screen, each["newest"]["ended_at"], now),
            each["newest"]["id"],
            each["signature"],
        )
        for each in page["items"]
    ]
    headings = ("COUNT", "JOBS", "NEWEST", "EXAMPLE", "ERROR")
    screen.table(headings, rows, soft=("ERROR",), below=True)
    if page["more"]:
        screen.say(f"Of the newest {page['looked_at']:,} dead letters; older ones are not counted.")
    else:
        say_rest(session, page, _NONE)


@command(app, "show")
async def show(session: Session, id: Id) -> None:
    """Show one dead letter with its attempts."""
    document = await session.client.get_execution(id)
    if session.as_json:
        session.screen.json(document)
        return
    show_execution(session.screen, document, await session.now())
    if document["state"] == "dead":
        session.screen.say(f"Run it again: tickwell dead revive {document['id']}")


@command(app, "revive")
async def revive(
    session: Session,
    *,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids; or choose by options.")
    ] = None,
    all_of_them: All = False,
    job: OfJob = None,
    error: Error = None,
    since: Since = None,
    until: Until = None,
    rate: Annotated[
        float,
        typer.Option(min=0.01, max=1000, metavar="N", help="Maximum per second."),
    ] = REVIVAL_RATE,
    payload: Payload = None,
    yes: Yes = False,
) -> None:
    """Run dead letters again under their ids, with new attempts."""
    from tickwell.cli.options.definition import read_json
    from tickwell.domain.payload import KEEP
    from tickwell.errors import InvalidInput

    chosen = bool(job or error or since or until or all_of_them)
    if bool(ids) == chosen:
        raise InvalidInput(
            "ids and options that select dead letters are mutually exclusive"
            if ids
            else "no selection",
            hint="Pass ids, or --all, --job, --error, --since or --until",
        )
    if ids:
        await revive_ids(session, ids, payload)
        return
    where = await _filter(session, job, since, until, error)
    own = KEEP if payload is None else read_json(payload, "payload")
    count = await _confirmed(session, where, "Revive {}?", yes=yes)
    with progress(session.screen, "Reviving", count) as update:
        done = await _revive(session, where, rate, own, update)
    if session.as_json:
        session.screen.json(done)
        return
    did = "Revived" if payload is None else "Repeated as new executions:"
    session.screen.say(f"{did} {say_count(done['revived'], 'execution')}.")
    if done["left_out"]:
        session.screen.say(f"Skipped: {say_count(done['left_out'], 'dead letter')}.")
    for name, why in done["refused"].items():
        session.screen.say(f"{name}: {why}")


async def _confirmed(session: Session, where: DeadFilter, question: str, *, yes: bool) -> int:
    """How many match, when that is all right; 0: not known, or none."""
    groups = await session.client.dead_letter_groups(**where)
    count = 0 if groups["more"] else sum(group["count"] for group in groups["items"])
    if count or groups["more"]:
        which = "all that match" if groups["more"] else say_count(count, "dead letter")
        session.confirm(question.format(which), yes=yes)
    return count


@command(app, "purge")
async def purge(
    session: Session,
    *,
    all_of_them: All = False,
    job: OfJob = None,
    error: Error = None,
    since: Since = None,
    until: Until = None,
    yes: Yes = False,
) -> None:
    """Delete dead letters for good; they cannot be revived."""
    from tickwell.errors import InvalidInput

    if not (job or error or since or until or all_of_them):
        raise InvalidInput("no selection", hint="Pass --all, --job, --error, --since or --until")
    where = await _filter(session, job, since, until, error)
    count = await _confirmed(session, where, "Delete {} for good?", yes=yes)
    with progress(session.screen, "Purging", count) as update:
        done = await _purge(session, where, update)
    if session.as_json:
        session.screen.json(done)
    else:
        session.screen.say(f"Purged {say_count(done['purged'], 'dead letter')}.")


async def _revive(
    session: Session, where: DeadFilter, rate: float, payload: Any, update: Update
) -> dict[str, Any]:
    """Revive all that match, and wait until that has ended."""
    from tickwell.errors import StoreError

    revival = await session.client.revive_dead_letters(**where, rate=rate, payload=payload)
    told = 0
    while revival["state"] == "running":
        await session.connection.wait(_POLL)
        revival = await session.client.get_revival(revival["id"])
        update(revival["revived"] - told)
        told = revival["revived"]
    if revival["error"] is not None:
        raise StoreError(f"{told} were revived, then: {revival['error']}")
    return {
        "revived": revival["revived"],
        "left_out": revival["left_out"],
        "refused": revival["refused"],
    }


async def _purge(session: Session, where: DeadFilter, update: Update) -> dict[str, Any]:
    """Delete all that match, batch by batch."""
    purged, more = 0, True
    while more:
        done = await session.client.purge_dead_letters(**where)
        purged, more = purged + done["purged"], done["more"]
        update(done["purged"])
    return {"purged": purged}


async def _filter(
    session: Session,
    job: str | None,
    since: str | None,
    until: str | None,
    error: str | None = None,
) -> DeadFilter:
    return {
        "job": job,
        "since": await session.moment(since, "since"),
        "until": await session.moment(until, "until"),
        "search": error,
    }
