"""`tickwell executions`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.complete import complete_job
from tickwell.cli.follow import Within, follow, read_within
from tickwell.cli.pages import Cursor, Limit, Since, Until, Yes, say_count, say_rest
from tickwell.cli.views import Document, show_execution, show_executions

app = group("executions", "Look at what ran, follow, cancel and revive it.")
Id = Annotated[str, typer.Argument(metavar="ID", help="Of the execution.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Of executions.")]
OfJob = Annotated[
    str | None,
    typer.Option("--job", metavar="JOB", help="Only of this job.", autocompletion=complete_job),
]
Payload = Annotated[
    str | None,
    typer.Option(metavar="JSON", help="Repeat it with this, or @FILE, as a new execution."),
]


class Standing(StrEnum):
    """States that a list can be asked for."""

    waiting = "waiting"
    blocked = "blocked"
    queued = "queued"
    running = "running"
    parked = "parked"
    succeeded = "succeeded"
    dead = "dead"
    cancelled = "cancelled"
    skipped = "skipped"


@command(app, "list")
async def list_executions(
    session: Session,
    *,
    job: OfJob = None,
    state: Annotated[
        list[Standing] | None, typer.Option(help="Only these; repeat for more.")
    ] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this queue.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List executions, newest first."""
    from tickwell.cli.times import read_time
    from tickwell.domain.execution import State
    from tickwell.ports.records import ExecutionFilter

    now = await session.backend.now()
    where = ExecutionFilter(
        job_id=job,
        states=frozenset(State(each) for each in state) if state else None,
        queue=queue,
        since=None if since is None else read_time(since, "since", now),
        until=None if until is None else read_time(until, "until", now),
    )
    page = await session.backend.executions_list(where, cursor, limit)
    if session.as_json:
        session.screen.json(page)
        return
    show_executions(session.screen, page["items"], await session.backend.now())
    narrowed = job or state or queue or since or until
    nothing = "Nothing ran yet. Run a job now: tickwell jobs trigger JOB"
    say_rest(session, page, "No execution matches." if narrowed else nothing)


@command(app, "show")
async def show(session: Session, id: Id) -> None:
    """Show one execution with its attempts, their responses and their lines."""
    document = await session.backend.executions_get(id)
    if session.as_json:
        session.screen.json(document)
    else:
        show_execution(session.screen, document, await session.backend.now())


@command(app, "follow")
async def follow_one(session: Session, id: Id, within: Within = None) -> None:
    """Watch an execution to its end, line by line; exit code 1 unless it succeeded, 7 if parked."""
    await follow(session, id, read_within(within))


@command(app, "cancel")
async def cancel(session: Session, ids: Ids, yes: Yes = False) -> None:
    """End what is pending, ask the worker of what is running to stop."""
    session.confirm(f"Cancel {say_count(len(ids), 'execution')}?", yes=yes)
    done = await _each(session, ids, session.backend.executions_cancel)
    if session.as_json:
        session.screen.json({"items": done})
        return
    left = len(ids) - len(done)
    rest = f"; {left} had ended already" if left else ""
    session.screen.say(f"Cancelled {say_count(len(done), 'execution')}{rest}.")


@command(app, "revive")
async def revive(session: Session, ids: Ids, payload: Payload = None) -> None:
    """Run dead executions again under their ids, with a new budget."""
    await revive_ids(session, ids, payload)


async def revive_ids(session: Session, ids: list[str], payload: str | None) -> None:
    """Revive as they are, or repeat one with another payload."""
    from tickwell.cli.definition import read_json
    from tickwell.errors import InvalidInput

    if payload is not None:
        if len(ids) != 1:
            raise InvalidInput("one execution is repeated at a time", field="payload")
        own = read_json(payload, "payload")
        document = await session.backend.executions_repeat(ids[0], own)
        if session.as_json:
            session.screen.json(document)
            return
        session.screen.say(f"Repeated {ids[0]} as a new execution.")
        session.screen.data(document["id"])
        return
    done = await _each(session, ids, session.backend.executions_revive)
    if session.as_json:
        session.screen.json({"items": done})
        return
    left = len(ids) - len(done)
    rest = f"; {left} not: they are not dead, or their job is deleted" if left else ""
    session.screen.say(f"Revived {say_count(len(done), 'execution')}{rest}.")


async def _each(
    session: Session, ids: list[str], act: Callable[[str], Awaitable[Document]]
) -> list[Document]:
    """Those that could be changed; when none could, the first refusal is raised."""
    from tickwell.errors import Conflict

    for id in ids:
        await session.backend.executions_get(id)
    done, refusals = [], []
    for id in ids:
        try:
            done.append(await act(id))
        except Conflict as refusal:
            refusals.append(refusal)
    if refusals and not done:
        raise refusals[0]
    return done
