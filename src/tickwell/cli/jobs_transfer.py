"""`tickwell jobs export` and `import`: definitions as one file, to keep or to take elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from tickwell.cli.allowing import AllowLocal, naming_the_option
from tickwell.cli.command import Session, command
from tickwell.cli.jobs_edit import require
from tickwell.cli.pages import say_count
from tickwell.cli.views import Document

if TYPE_CHECKING:
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
                        _pause_in(document, 0)
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
    from tickwell.errors import JobExists

    wanted, now = _portable(document), await session.backend.now()
    paused, why, until = _pause_in(document, now)
    try:
        before, is_new = await session.backend.jobs_add(wanted, paused=paused)
    except JobExists:
        before, is_new = await session.backend.jobs_get(wanted["name"]), False
    if is_new:
        if paused and (why or until):  # it is paused already, without a word and without end
            await session.backend.jobs_pause(before["id"], why=why, until=until)
        return "added"
    known = _portable(before)
    if "retention" not in wanted and "retention" in known:
        wanted["retention"] = known["retention"]  # a definition without one leaves it as it is
    if _job(wanted) == _job(known):
        return "unchanged"
    await session.backend.jobs_edit(before["id"], wanted, before["version"])
    return "changed"


def _portable(job: Document) -> Document:
    """What says the same in any store."""
    from tickwell.services.documents import definition_of

    return {name: value for name, value in definition_of(job).items() if name not in _LEFT}


def _paused(job: Document) -> Document:
    if not job["pause"]:
        return {}
    said = {name: job["pause"][name] for name in ("why", "until")}
    return {"pause": {name: value for name, value in said.items() if value is not None}}


def _pause_in(document: Document, now: int) -> tuple[bool, str, int | None]:
    """Whether the job of a file is paused, why, and until when; one that is over counts no more."""
    from tickwell.cli.times import read_time
    from tickwell.errors import InvalidInput

    pause = document.get("pause")
    if pause is None:
        return False, "", None
    why, end = (pause.get("why", ""), pause.get("until")) if isinstance(pause, dict) else (0, 0)
    if not isinstance(why, str) or not isinstance(end, str | None):
        raise InvalidInput(
            "is no pause",
            field="pause",
            hint='For example {"why": "holidays", "until": "2027-01-07T00:00:00Z"}',
        )
    until = None if end is None else read_time(end, "pause.until", now)
    return until is None or until > now, why, until


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
