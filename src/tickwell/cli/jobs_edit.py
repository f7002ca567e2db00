"""`tickwell jobs add`, `edit` and `trigger`: what brings a definition or a payload along."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from tickwell.cli.allowing import AllowLocal, naming_the_option
from tickwell.cli.command import Session, command
from tickwell.cli.follow import Within, follow, read_within
from tickwell.cli.given import PARAMETERS
from tickwell.cli.jobs import Name
from tickwell.cli.views import Document, schedule, warnings

File = Annotated[
    str | None,
    typer.Option("--file", "-f", metavar="FILE", help="A job as .json or .toml; - for JSON."),
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
    name: Annotated[str | None, typer.Argument(help="Unique in the project.")] = None,
    file: File = None,
    allow_local: AllowLocal = False,
    **given: Any,
) -> None:
    """Add a job, by options or from a file; options win over the file."""
    from tickwell.cli.definition import changed, read_file
    from tickwell.domain.document.initial_state import initial_state
    from tickwell.services.documents import definition_of

    if allow_local:
        session.backend.allow_local()
    read = read_file(file) if file else {}
    document, state = definition_of(read), initial_state(read)
    document.pop("enabled", None)
    if name is not None:
        document["name"] = name
    document = changed(document, given, await session.backend.now())
    require(document)
    with naming_the_option():
        job, is_new = await session.backend.jobs_add(document, state)
    if session.as_json:
        session.screen.json(job)
        return
    if not is_new:
        session.screen.say(
            f"{job['name']} has this dedupe key already; nothing was added."
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
        int | None, typer.Option(metavar="N", help="Refuse if it was edited since this version.")
    ] = None,
    allow_local: AllowLocal = False,
    **given: Any,
) -> None:
    """Change a job by options or a file; without either your $EDITOR opens."""
    from tickwell.cli.definition import changed, is_given, read_file
    from tickwell.domain.document.initial_state import require_unchanged
    from tickwell.domain.job import JobState
    from tickwell.errors import InvalidInput
    from tickwell.services.documents import definition_of

    if allow_local:
        session.backend.allow_local()
    before = await session.backend.jobs_get(job)
    options = {name: value for name, value in given.items() if is_given(value)}
    read = read_file(file) if file else before
    require_unchanged(read, JobState(before["state"]))
    document = definition_of(read)
    document.pop("enabled", None)
    document.setdefault("name", before["name"])
    if not file and not options:
        if not session.screen.is_terminal:
            raise InvalidInput("nothing is to be changed", hint="Give options, or --file")
        document = _in_editor(document)
    document = changed(document, options, await session.backend.now())
    require(document)
    expected = version if version is not None else document.get("version", before["version"])
    if _is_same(document, before):
        session.screen.say("Nothing was changed.")
        return
    with naming_the_option():
        done = await session.backend.jobs_edit(before["id"], document, expected)
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
        str | None, typer.Option(metavar="JSON", help="Instead of the job's own, or @FILE.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Not now, but then: a time, or 10m.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The same key again is the same run.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", metavar="", help="Until it has ended.")] = False,
    within: Within = None,
) -> None:
    """Run a job now, or at a moment."""
    from tickwell.cli.definition import read_json
    from tickwell.cli.times import read_time
    from tickwell.errors import InvalidInput

    limit = read_within(within)
    own = None if payload is None else read_json(payload, "payload")
    now = await session.backend.now()
    run_at = None if at is None else read_time(at, "at", now, ahead=True)
    if run_at is not None and run_at < now:
        raise InvalidInput("is past", field="at", hint="Leave it out to run the job now")
    document, new = await session.backend.jobs_trigger(
        job, payload=own, run_at=run_at, once_key=key
    )
    if run_at is None and not session.as_json:
        await _say_who_is_missing(session, document["queue"])
    if wait or limit is not None:
        await follow(session, document["id"], limit)
    elif session.as_json:
        session.screen.json(document)
    else:
        said = "Asked for a run" if new else "This run was asked for before"
        session.screen.say(f"{said}. Watch it: tickwell executions follow {document['id']}")
        session.screen.data(document["id"])


async def _say_who_is_missing(session: Session, queue: str) -> None:
    """A run that nobody takes looks as if nothing had been asked for."""
    workers = (await session.backend.workers())["items"]
    if not any(each["state"] == "alive" and queue in each["queues"] for each in workers):
        session.screen.say(
            f"No worker is alive that takes from the queue {queue}: the run waits for one."
            " See: tickwell doctor"
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
            "nothing says when", field="trigger", hint="Give --cron, --every, --at or --on-demand"
        )
    if not document.get("target"):
        raise InvalidInput("nothing says what", field="target", hint="Give --url or --call")


def _in_editor(document: Document) -> Document:
    """The document as a person left it."""
    from tickwell.cli.definition import read_file
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
