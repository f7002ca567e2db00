"""Job definitions in bodies: what a client may write, and where it is wrong."""

from __future__ import annotations

from typing import Any

import orjson

from tickwell.api.flat import canonical, flat_field
from tickwell.api.problems import Invalid
from tickwell.domain.document import job_from_document
from tickwell.domain.document.job import UNWRITTEN
from tickwell.domain.given import require_name
from tickwell.domain.job import Job, copied, copier
from tickwell.errors import InvalidInput, InvalidJob
from tickwell.services.operations.jobs import MOST
from tickwell.services.paced import Pace
from tickwell.services.savable import require_savable

#: What the service says of a job, and nobody writes.
READ_ONLY = UNWRITTEN | {"state", "next_fire_time", "pause", "cursor", "edited"}


def definition(
    document: Any, *, flat: bool = False, sent_back: bool = False
) -> tuple[Job, bool | None]:
    """The job of a document, without an id yet, and what `enabled` said in a flat one.

    Sent back: what the service had added when it was read is left out instead of refused.
    """
    given, enabled = canonical(document) if flat else (document, None)
    try:
        if sent_back and isinstance(given, dict):
            given = {name: value for name, value in given.items() if name not in READ_ONLY}
        _refuse_read_only(given)
        if isinstance(given, dict):
            given = {"id": "", **given}
        return job_from_document(given), enabled
    except InvalidInput as error:
        field = flat_field(error.field, document) if flat else error.field
        raise InvalidJob(error.reason, field=field, hint=error.hint) from None


async def definitions(documents: Any, *, flat: bool = False) -> list[Job]:
    """The jobs of a batch; everything that is wrong is said at once."""
    if not isinstance(documents, list) or not 1 <= len(documents) <= MOST:
        raise InvalidJob(f"a list of 1 to {MOST} jobs is needed", field="jobs")
    found, wrong = list[Job](), list[InvalidInput]()
    names: dict[str, int] = {}
    pace = Pace()
    for number, document in enumerate(documents):
        if pace.is_long():
            await pace.rest()
        try:
            job = _flat(document) if flat else alike(document)
            require_savable(job)
        except InvalidInput as error:
            field = f"jobs.{number}.{error.field}" if error.field else f"jobs.{number}"
            wrong.append(InvalidJob(error.reason, field=field, hint=error.hint))
            continue
        first = names.setdefault(job.name, number)
        if first != number:
            wrong.append(InvalidJob(f"jobs.{first} has the same name", field=f"jobs.{number}.name"))
        found.append(job)
    if wrong:
        raise Invalid(wrong)
    return found


def _flat(document: Any) -> Job:
    job, enabled = definition(document, flat=True)
    if enabled is False:
        raise InvalidJob(
            "no job of a batch is added as paused", field="enabled", hint="Add it by itself"
        )
    return job


def alike(document: Any) -> Job:
    """The job of a document, as `definition` has it.

    Of those that differ in name and payload only, the first is read, the others are copied.
    """
    name = document.get("name") if isinstance(document, dict) else None
    if type(name) is not str:
        return definition(document)[0]
    shared = document.copy()
    del shared["name"]
    payload = shared.pop("payload", None)
    mark = orjson.dumps(shared)
    known = _ALIKE.get(mark)
    if known is not None:
        job = _renamed(known, name, payload)
        require_name(job, "name")
        return job
    job = definition(document)[0]
    if len(mark) <= _LONGEST:
        if len(_ALIKE) >= _MOST_ALIKE:
            _ALIKE.clear()
        _ALIKE[mark] = copied(job, payload=None)
    return job


_renamed = copier("name", "payload")
#: Definitions that were read lately, by what they share with others; then all are forgotten.
_ALIKE: dict[bytes, Job] = {}
_MOST_ALIKE = 1024
#: Bytes of one up to which it is remembered.
_LONGEST = 4096


def patch_of(document: Any, *, flat: bool = False) -> tuple[dict[str, Any], bool | None]:
    """A merge patch that touches only what a client may write, and what `enabled` said."""
    given, enabled = canonical(document) if flat else (document, None)
    if not isinstance(given, dict):
        raise InvalidJob("a patch is an object", hint='For example {"priority": 7}')
    _refuse_read_only(given)
    return given, enabled


def _refuse_read_only(document: Any) -> None:
    if not isinstance(document, dict):
        return
    for name in document:
        if name in READ_ONLY:
            raise InvalidJob("is said by the service, not by the client", field=name)
