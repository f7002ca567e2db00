"""`tickwell jobs add`, `edit` and `trigger`: what brings a definition or a payload along."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tickwell.cli.command import Session, command
from tickwell.cli.commands.jobs import Name
from tickwell.cli.config.allowing import AllowLocal, naming_the_option
from tickwell.cli.options.job_options import PARAMETERS
from tickwell.cli.options.times import say_count
from tickwell.cli.output.follow import Within, follow, read_within
from tickwell.cli.output.views import Document, schedule, warnings

if TYPE_CHECKING:
    from tickwell.domain.document.initial_state import InitialState
    from tickwell.domain.job import Job


async def put_job(session: Session, document: Document) -> str:
    """Add the job of a document, or give the one of its name this definition; say which."""
    from tickwell.domain.document.initial_state import initial_state

    wanted, state = portable(document), initial_state(document)
    before, is_new = await _add_or_find(session, wanted, state)
    if is_new:
        return "added"
    known = portable(before)
    if "retention" not in wanted and "retention" in known:
        wanted["retention"] = known["retention"]  # a definition without one leaves it as it is
    is_same = read_definition(wanted) == read_definition(known)
    if not is_same:
        await replace_job(session, before["id"], wanted, before["version"])
    moved = await _bring_to(session, before, state)
    return "unchanged" if is_same and not moved else "changed"


async def read_job(session: Session, name: str) -> Document:
    """The job of a name."""
    return await session.client.get_job(await session.key(name))


async def add_job(
    session: Session, document: Document, state: InitialState
) -> tuple[Document, bool]:
    """Add a job; also whether it is new, and not one with the same dedupe key."""
    from tickwell.client.calls import create_job
    from tickwell.services.documents import instant_text

    body = await _definition(session, document)
    if state.paused:
        until = None if state.until is None else instant_text(state.until)
        body["state"] = "paused"
        if state.why is not None or until is not None:
            body["pause"] = {"why": state.why, "until": until}
    answer = await session.client.answer(create_job(body))
    return answer.document, answer.status == 201


async def replace_job(
    session: Session, key: str, document: Document, version: int | None
) -> Document:
    """Replace the definition of a job that was read at a version."""
    body = await _definition(session, document)
    return await session.client.replace_job(key, body, version=version)


async def _definition(session: Session, document: Document) -> dict[str, Any]:
    """What is sent of a document, if it belongs to the project of the session."""
    from tickwell.errors import InvalidJob
    from tickwell.services.documents import READ_ONLY

    named = document.get("project")
    if named is not None and named != await session.connection.project():
        raise InvalidJob(
            f"the document belongs to {named!r}", field="project", hint=f"Use --project {named}"
        )
    left_out = {*READ_ONLY, "state", "pause"}
    return {name: value for name, value in document.items() if name not in left_out}


async def _bring_to(session: Session, job: Document, state: InitialState) -> bool:
    """Pause or resume a job that was there before, if the file says so; whether it had to be."""
    from tickwell.services.documents import instant_text

    is_paused = job["state"] == "paused"
    wants_pause = state.is_paused(await session.now())
    if not state.stated or wants_pause is is_paused:
        return False
    if wants_pause:
        until = None if state.until is None else instant_text(state.until)
        await session.client.pause_job(job["id"], note=state.why, until=until)
    else:
        await session.client.resume_job(job["id"])
    return True


async def _add_or_find(
    session: Session, wanted: Document, state: InitialState
) -> tuple[Document, bool]:
    from tickwell.errors import JobExists, TickwellError

    if "{{masked" in json.dumps(wanted):
        # Added it would be refused: a mask keeps what is stored. Adding says what else is wrong.
        with suppress(TickwellError):
            return await read_job(session, wanted["name"]), False
    try:
        return await add_job(session, wanted, state)
    except JobExists:
        return await read_job(session, wanted["name"]), False


def portable(job: Document) -> dict[str, Any]:
    """What says the same in any store."""
    from tickwell.services.documents import READ_ONLY

    left_out = {*READ_ONLY, "state", "pause", "enabled"}
    return {name: value for name, value in job.items() if name not in left_out}


def read_definition(definition: Document) -> Job:
    """The job of a definition, to check and to compare it."""
    from tickwell.domain.document import job_from_document

    return job_from_document({**definition, "id": ""})


def say_counts(session: Session, done: Counter[str]) -> None:
    """How many were added, changed and left alone."""
    counts = {each: done[each] for each in ("added", "changed", "unchanged")}
    if session.as_json:
        session.screen.json(counts)
        return
    message = ", ".join(f"{count} {word}" for word, count in counts.items())
    session.screen.say(f"{say_count(done.total(), 'job')}: {message}.")


File = Annotated[
    str | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="Job as .json or .toml; - reads JSON from stdin."
    ),
]


def register(app: typer.Typer) -> None:
    """Put the commands beside those that only read."""
    command(app, "add", PARAMETERS)(add)
    command(app, "edit", PARAMETERS)(edit)
    command(app, "trigger")(trigger)


async def add(
    session: Session,
    /,
    *,
    name: Annotated[str | None, typer.Argument(help="Name, unique in the project.")] = None,
    file: File = None,
    allow_local: AllowLocal = False,
    **arguments: Any,
) -> None:
    """Add a job, by options or from a file; options win over the file."""
    from tickwell.cli.options.definition import changed, read_file
    from tickwell.domain.document.initial_state import initial_state
    from tickwell.services.documents import definition_of

    if allow_local:
        session.connection.allow_local()
    read = read_file(file) if file else {}
    document, state = definition_of(read), initial_state(read)
    document.pop("enabled", None)
    if name is not None:
        document["name"] = name
    document = changed(document, arguments, await session.now())
    require(document)
    with naming_the_option():
        job, is_new = await add_job(session, document, state)
    if session.as_json:
        session.screen.json(job)
        return
    if not is_new:
        session.screen.say(
            f"{job['name']} already has this dedupe key; nothing was added."
            f" Change it: tickwell jobs edit {job['name']}"
        )
        session.screen.data(job["id"])
        return
    session.screen.say(f"Added {job['name']}: {schedule(job)}.")
    for warning in warnings(job):
        session.screen.say(f"Note: {warning}.")
    session.screen.data(job["id"])


async def edit(
    session: Session,
    /,
    *,
    job: Name,
    file: File = None,
    version: Annotated[
        int | None, typer.Option(metavar="N", help="Fail if the job was edited after this version.")
    ] = None,
    allow_local: AllowLocal = False,
    **arguments: Any,
) -> None:
    """Change a job by options or a file; without either, opens $EDITOR."""
    from tickwell.cli.options.definition import changed, is_given, read_file
    from tickwell.domain.document.initial_state import require_unchanged
    from tickwell.domain.job import JobState
    from tickwell.errors import InvalidInput
    from tickwell.services.documents import definition_of

    if allow_local:
        session.connection.allow_local()
    before = await session.client.get_job(await session.key(job))
    options = {name: value for name, value in arguments.items() if is_given(value)}
    read = read_file(file) if file else before
    require_unchanged(read, JobState(before["state"]))
    document = definition_of(read)
    document.pop("enabled", None)
    document.setdefault("name", before["name"])
    if not file and not options:
        if not session.screen.is_terminal:
            raise InvalidInput("nothing to change", hint="Give options, or --file")
        document = _in_editor(document)
    document = changed(document, options, await session.now())
    require(document)
    expected = version if version is not None else document.get("version", before["version"])
    if _is_same(document, before):
        session.screen.say("Nothing changed.")
        return
    with naming_the_option():
        done = await replace_job(session, before["id"], document, expected)
    if session.as_json:
        session.screen.json(done)
        return
    after = done["job"]
    session.screen.say(f"Saved {after['name']}, version {after['version']}: {schedule(after)}.")
    for warning in warnings(after):
        session.screen.say(f"Note: {warning}.")


async def trigger(
    session: Session,
    *,
    job: Name,
    payload: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="JSON payload overriding the job's; @FILE reads a file."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When to run: a time, or a delay such as 10m."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Idempotency key; the same key triggers one run."),
    ] = None,
    unless: Annotated[
        str | None,
        typer.Option(
            metavar="STATE", help="Skip if the same run is pending, running, or within 24h."
        ),
    ] = None,
    unique_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Key that makes runs the same: {payload.customer}."),
    ] = None,
    debounce: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Delay that each request for the same run renews: 30s."
        ),
    ] = None,
    debounce_max: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="Maximum wait of a debounced run, e.g. 5m."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", metavar="", help="Wait until the execution has ended.")
    ] = False,
    within: Within = None,
) -> None:
    """Run a job now, or at a given time."""
    from tickwell.cli.options.definition import read_json
    from tickwell.cli.options.times import read_time
    from tickwell.client.calls import trigger_job
    from tickwell.domain.execution import State
    from tickwell.domain.explanation import repeat_of
    from tickwell.errors import InvalidInput
    from tickwell.services.documents import instant_text

    limit = read_within(within)
    own = None if payload is None else read_json(payload, "payload")
    now = await session.now()
    run_at = None if at is None else read_time(at, "at", now, ahead=True)
    if run_at is not None and run_at < now:
        raise InvalidInput("is past", field="at", hint="Leave it out to run the job now")
    moment = None if run_at is None else instant_text(run_at)
    asked = await session.client.answer(
        trigger_job(
            await session.key(job),
            own,
            at=moment,
            unless=unless,
            unique_key=unique_key,
            debounce=debounce,
            debounce_max=debounce_max,
            idempotency_key=key,
        )
    )
    # A server repeats its first answer to an idempotency key, word for word.
    is_new = asked.document["is_new"] and not asked.replayed
    document: Document = await session.client.get_execution(asked.document["id"])
    if run_at is None and not session.as_json:
        await _say_who_is_missing(session, document["queue"])
    if wait or limit is not None:
        await follow(session, document["id"], limit)
    elif session.as_json:
        session.screen.json({**document, "is_new": is_new})
    else:
        message = "Triggered a run"
        if not is_new:
            message = f"N{repeat_of(State(document['state']))[1:]}"
        session.screen.say(f"{message}. Watch it: tickwell executions follow {document['id']}")
        session.screen.data(document["id"])


async def _say_who_is_missing(session: Session, queue: str) -> None:
    """A run that nobody takes looks as if nothing had been asked for."""
    workers = (await session.client.list_workers())["items"]
    if not any(each["state"] == "alive" and queue in each["queues"] for each in workers):
        session.screen.say(
            f"No live worker takes from the queue {queue}, so the run waits. See: tickwell doctor"
        )


def _is_same(document: Document, before: Document) -> bool:
    """Whether both describe one job, however they are written."""
    from tickwell.domain.document import job_from_document
    from tickwell.services.documents import definition_of

    known = definition_of(before)
    return job_from_document({**known, **document}) == job_from_document(known)


def require(document: Document) -> None:
    """Say in options, not in fields of a document, what is missing."""
    from tickwell.errors import InvalidInput

    if not document.get("name"):
        raise InvalidInput("the job has no name", field="name", hint="tickwell jobs add NAME …")
    if not document.get("trigger"):
        raise InvalidInput(
            "is missing",
            field="trigger",
            hint="Pass --cron, --every, --when, --rrule, --at or --on-demand",
        )
    if not document.get("target"):
        raise InvalidInput("is missing", field="target", hint="Pass --url or --call")


def _in_editor(document: Document) -> dict[str, Any]:
    """The document as a person left it."""
    from tickwell.cli.options.definition import read_file
    from tickwell.errors import InvalidInput

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "job.json")
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False), "utf-8")
        try:
            ended = subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603
        except OSError as error:
            raise InvalidInput(
                f"{editor} cannot be started: {error.strerror}", hint="Set EDITOR"
            ) from None
        if ended.returncode:
            raise InvalidInput(f"{editor} ended with {ended.returncode}; nothing was changed")
        return read_file(str(path))
