"""Put a definition into a store or server: add the job, or change the one that has its name."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from tickwell.cli.command import Session
from tickwell.cli.pages import say_count
from tickwell.cli.views import Document

if TYPE_CHECKING:
    from tickwell.domain.document.initial_state import InitialState
    from tickwell.domain.job import Job

#: What belongs to the store that a job is in, not to the job.
_LEFT = ("id", "project", "version", "created_at", "saved_at", "app", "declared")


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


def portable(job: Document) -> Document:
    """What says the same in any store."""
    from tickwell.services.documents import definition_of

    left = {*_LEFT, "enabled"}
    return {name: value for name, value in definition_of(job).items() if name not in left}


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
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    session.screen.say(f"{say_count(done.total(), 'job')}: {said}.")
