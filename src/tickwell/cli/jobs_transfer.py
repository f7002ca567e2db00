"""`tickwell jobs export` and `import`: definitions as one file, to keep or to take elsewhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from tickwell.cli.allowing import AllowLocal, naming_the_option
from tickwell.cli.command import Session, command
from tickwell.cli.jobs_edit import require
from tickwell.cli.pages import say_count
from tickwell.cli.views import Document

if TYPE_CHECKING:
    from tickwell.domain.document.initial_state import InitialState
    from tickwell.domain.job import Job

#: What belongs to the store that a job is in, not to the job.
_LEFT = ("id", "project", "version", "created_at", "saved_at", "app", "declared")
_PAGE = 1000


def register(app: typer.Typer) -> None:
    """Put the commands beside those for one job."""
    command(app, "export")(export)
    command(app, "import")(import_jobs)


async def export(session: Session) -> None:
    """Print all jobs as one JSON document, for `import`; what code declares is left out."""
    from tickwell.services.callbacks.callback import is_sender_name

    jobs = [each async for each in _all(session)]
    own = [
        each
        for each in jobs
        if not each.get("app") and not is_sender_name(each["name"], each["id"])
    ]
    session.screen.json({"jobs": [_portable(each) | _paused(each) for each in own]})
    left = len(jobs) - len(own)
    rest = f"; {left} belong to code or to callbacks and are left out" if left else ""
    session.screen.say(f"{say_count(len(own), 'job')}{rest}.")


async def import_jobs(
    session: Session,
    *,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Of `export`, .json or .toml; - for JSON.")
    ],
    allow_local: AllowLocal = False,
) -> None:
    """Add the jobs of a file, and give those that are there its definitions. May be repeated."""
    from tickwell.cli.definition import read_jobs
    from tickwell.domain.document.initial_state import initial_state
    from tickwell.errors import InvalidInput

    if allow_local:
        session.backend.allow_local()
    documents = read_jobs(file)
    done: Counter[str] = Counter()
    for write in (False, True):  # a mistake in the last one is found before the first is written
        for number, document in enumerate(documents):
            try:
                with naming_the_option():
                    if write:
                        done[await _put(session, document)] += 1
                    else:
                        require(document)
                        initial_state(document)
                        _job(_portable(document))
            except InvalidInput as error:
                field = f"{document.get('name') or number}: {error.field}"
                raise type(error)(error.reason, field=field, hint=error.hint) from None
    counts = {each: done[each] for each in ("added", "changed", "unchanged")}
    if session.as_json:
        session.screen.json(counts)
        return
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    session.screen.say(f"{say_count(len(documents), 'job')}: {said}.")


async def _put(session: Session, document: Document) -> str:
    from tickwell.domain.document.initial_state import initial_state

    wanted, state = _portable(document), initial_state(document)
    before, is_new = await _add_or_find(session, wanted, state)
    if is_new:
        return "added"
    known = _portable(before)
    if "retention" not in wanted and "retention" in known:
        wanted["retention"] = known["retention"]  # a definition without one leaves it as it is
    is_same = _job(wanted) == _job(known)
    if not is_same:
        await session.backend.jobs_edit(before["id"], wanted, before["version"])
    moved = await _bring_to(session, before, state)
    return "unchanged" if is_same and not moved else "changed"


async def _bring_to(session: Session, job: Document, state: InitialState) -> bool:
    """Pause or resume a job that was there before, if the file says so; whether it had to be."""
    is_paused = job["state"] == "paused"
    wants_pause = state.is_paused(await session.backend.now())
    if not state.stated or wants_pause is is_paused:
        return False
    if wants_pause:
        await session.backend.jobs_pause(job["id"], why=state.why or "", until=state.until)
    else:
        await session.backend.jobs_resume(job["id"])
    return True


async def _add_or_find(
    session: Session, wanted: Document, state: InitialState
) -> tuple[Document, bool]:
    from tickwell.errors import JobExists, TickwellError

    if "{{masked" in json.dumps(wanted):
        # Added it would be refused: a mask keeps what is stored. Adding says what else is wrong.
        with suppress(TickwellError):
            return await session.backend.jobs_get(wanted["name"]), False
    try:
        return await session.backend.jobs_add(wanted, state)
    except JobExists:
        return await session.backend.jobs_get(wanted["name"]), False


def _portable(job: Document) -> Document:
    """What says the same in any store."""
    from tickwell.services.documents import definition_of

    left = {*_LEFT, "enabled"}
    return {name: value for name, value in definition_of(job).items() if name not in left}


def _paused(job: Document) -> Document:
    if not job["pause"]:
        return {}
    said = {name: job["pause"][name] for name in ("why", "until")}
    pause = {name: value for name, value in said.items() if value is not None}
    return {"state": "paused", "pause": pause}


def _job(definition: Document) -> Job:
    from tickwell.domain.document import job_from_document

    return job_from_document({**definition, "id": ""})


async def _all(session: Session) -> AsyncIterator[Document]:
    from tickwell.domain.job import JobState
    from tickwell.ports.records import JobFilter

    where = JobFilter(states=frozenset({JobState.ACTIVE, JobState.PAUSED}))
    cursor = None
    while True:
        page = await session.backend.jobs_list(where, cursor, _PAGE)
        for each in page["items"]:
            yield each
        cursor = page["next_cursor"]
        if cursor is None:
            return
