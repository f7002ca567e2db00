"""`tickwell executions`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.job_options import complete_job
from tickwell.cli.options.times import Cursor, Limit, Since, Until, Yes, say_count, say_rest
from tickwell.cli.output.follow import Within, follow, read_within
from tickwell.cli.output.views import Document, show_execution, show_executions

app = group("executions", "List, show, follow, cancel and revive executions.")
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the execution.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids of executions.")]
OfJob = Annotated[
    str | None,
    typer.Option("--job", metavar="JOB", help="Only this job.", autocompletion=complete_job),
]
Payload = Annotated[
    str | None,
    typer.Option(metavar="JSON", help="JSON payload of a new execution; @FILE reads a file."),
]


class ListedState(StrEnum):
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
        list[ListedState] | None, typer.Option(help="Only this state; may be repeated.")
    ] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Only this queue.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List executions, newest first."""
    page = await session.client.list_executions(
        job=job,
        state=state or (),
        queue=queue,
        since=await session.moment(since, "since"),
        until=await session.moment(until, "until"),
        cursor=cursor,
        limit=limit,
    )
    if session.as_json:
        session.screen.json(page)
        return
    show_executions(session.screen, page["items"], await session.now())
    narrowed = job or state or queue or since or until
    nothing = "Nothing ran yet. Run a job now: tickwell jobs trigger JOB"
    say_rest(session, page, "No execution matches." if narrowed else nothing)


@command(app, "show")
async def show(session: Session, id: Id) -> None:
    """Show one execution with its attempts, responses and output."""
    document = await session.client.get_execution(id)
    if session.as_json:
        session.screen.json(document)
    else:
        show_execution(session.screen, document, await session.now())


@command(app, "follow")
async def follow_one(session: Session, id: Id, within: Within = None) -> None:
    """Watch an execution to its end, line by line; exit code 1 unless it succeeded, 7 if parked."""
    await follow(session, id, read_within(within))


@command(app, "cancel")
async def cancel(session: Session, ids: Ids, yes: Yes = False) -> None:
    """Cancel executions: pending ones end at once, running ones are asked to stop."""
    session.confirm(f"Cancel {say_count(len(ids), 'execution')}?", yes=yes)
    done = await _each(session, ids, session.client.cancel_execution)
    if session.as_json:
        session.screen.json({"items": done})
        return
    left = len(ids) - len(done)
    rest = f"; {left} had already ended" if left else ""
    session.screen.say(f"Cancelled {say_count(len(done), 'execution')}{rest}.")


@command(app, "answer")
async def answer(
    session: Session,
    id: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name that it waits for.")],
    value: Annotated[
        str, typer.Argument(metavar="[JSON]", help="JSON answer; @FILE reads a file.")
    ] = "true",
) -> None:
    """Answer an execution that waits for input; it continues at once."""
    from tickwell.cli.options.definition import read_json

    document = await session.client.answer_execution(id, name, read_json(value, "answer"))
    if session.as_json:
        session.screen.json(document)
        return
    session.screen.say(f"Answered {name}.")


@command(app, "revive")
async def revive(session: Session, ids: Ids, payload: Payload = None) -> None:
    """Run dead executions again under their ids, with new attempts."""
    await revive_ids(session, ids, payload)


async def revive_ids(session: Session, ids: list[str], payload: str | None) -> None:
    """Revive as they are, or repeat one with another payload."""
    from tickwell.cli.options.definition import read_json
    from tickwell.errors import InvalidInput

    if payload is not None:
        if len(ids) != 1:
            raise InvalidInput("only one execution can be repeated at a time", field="payload")
        own = read_json(payload, "payload")
        document = await session.client.revive_execution(ids[0], own)
        if session.as_json:
            session.screen.json(document)
            return
        session.screen.say(f"Repeated {ids[0]} as a new execution.")
        session.screen.data(document["id"])
        return
    done = await _each(session, ids, session.client.revive_execution)
    if session.as_json:
        session.screen.json({"items": done})
        return
    left = len(ids) - len(done)
    rest = f"; {left} skipped: not dead, or the job is deleted" if left else ""
    session.screen.say(f"Revived {say_count(len(done), 'execution')}{rest}.")


async def _each(
    session: Session, ids: list[str], act: Callable[[str], Awaitable[Document]]
) -> list[Document]:
    """Those that could be changed; when none could, the first refusal is raised."""
    from tickwell.errors import Conflict

    for id in ids:
        await session.client.get_execution(id)
    done, refusals = [], []
    for id in ids:
        try:
            done.append(await act(id))
        except Conflict as refusal:
            refusals.append(refusal)
    if refusals and not done:
        raise refusals[0]
    return done
