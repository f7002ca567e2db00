"""Job definitions in bodies: what a client may write, and where it is wrong."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from tickwell.api.flat import canonical, flat_error
from tickwell.domain.coercion import require_name
from tickwell.domain.document import job_from_document
from tickwell.domain.document.initial_state import FIELDS, InitialState, initial_state
from tickwell.domain.job import Job, copied, copier
from tickwell.errors import InvalidInput, InvalidJob
from tickwell.services.cooperative import Pace
from tickwell.services.documents import READ_ONLY
from tickwell.services.jobs.save_limits import require_savable
from tickwell.services.operations.jobs import MOST
from tickwell.web.problems import Invalid

#: What says whether a job fires; a flat document may say it by `enabled`, too.
_STATE = frozenset({"state", "pause"})


def definition(
    document: Any, *, flat: bool = False, sent_back: bool = False
) -> tuple[Job, dict[str, Any]]:
    """The job of a document, without an id yet, and the fields that say whether it fires.

    Sent back: what the service had added when it was read is left out instead of refused.
    """
    try:
        given, stated = _split(canonical(document) if flat else document, flat=flat)
        if sent_back and isinstance(given, dict):
            given = {name: value for name, value in given.items() if name not in READ_ONLY}
        _refuse_read_only(given)
        if isinstance(given, dict):
            given = {"id": "", **given}
        return job_from_document(given), stated
    except InvalidInput as error:
        raise (flat_error(error, document) if flat else error.placed(str)) from None


def _split(document: Any, *, flat: bool) -> tuple[Any, dict[str, Any]]:
    """The definition, and the fields that say whether the job fires."""
    own = FIELDS if flat else _STATE
    if not isinstance(document, dict) or own.isdisjoint(document):
        return document, {}
    rest = {name: value for name, value in document.items() if name not in own}
    return rest, {name: document[name] for name in document if name in own}


async def definitions(
    documents: Any, *, flat: bool = False
) -> tuple[list[Job], list[InitialState]]:
    """The jobs of a batch, and whether they fire; everything that is wrong is said at once."""
    if not isinstance(documents, list) or not 1 <= len(documents) <= MOST:
        raise InvalidJob(f"a list of 1 to {MOST} jobs is needed", field="jobs")
    found, states, wrong = list[Job](), list[InitialState](), list[InvalidInput]()
    names: dict[str, int] = {}
    pace = Pace()
    for number, document in enumerate(documents):
        if pace.is_long():
            await pace.rest()
        try:
            job, stated = definition(document, flat=True) if flat else alike(document)
            require_savable(job)
            states.append(initial_state(stated))
        except InvalidInput as error:
            wrong += error.placed(partial(_of_job, number)).all
            continue
        first = names.setdefault(job.name, number)
        if first != number:
            wrong.append(InvalidJob(f"jobs.{first} has the same name", field=f"jobs.{number}.name"))
        found.append(job)
    if wrong:
        raise Invalid(wrong)
    return found, states


def _of_job(number: int, field: str) -> str:
    return f"jobs.{number}.{field}" if field else f"jobs.{number}"


def alike(document: Any) -> tuple[Job, dict[str, Any]]:
    """The job of a document, as `definition` has it.

    Of those that differ in name and payload only, the first is read, the others are copied.
    """
    rest, stated = _split(document, flat=False)
    name = rest.get("name") if isinstance(rest, dict) else None
    if type(name) is not str:
        return definition(rest)[0], stated
    shared = rest.copy()
    del shared["name"]
    payload = shared.pop("payload", None)
    mark = orjson.dumps(shared)
    known = _ALIKE.get(mark)
    if known is not None:
        job = _renamed(known, name, payload)
        require_name(job, "name")
        return job, stated
    job = definition(rest)[0]
    if len(mark) <= _LONGEST:
        if len(_ALIKE) >= _MOST_ALIKE:
            _ALIKE.clear()
        _ALIKE[mark] = copied(job, payload=None)
    return job, stated


_renamed = copier("name", "payload")
#: Definitions that were read lately, by what they share with others; then all are forgotten.
_ALIKE: dict[bytes, Job] = {}
_MOST_ALIKE = 1024
#: Bytes of one up to which it is remembered.
_LONGEST = 4096


def patch_of(document: Any, *, flat: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """A merge patch that touches only what a client may write, and what it says of the state."""
    given, stated = _split(canonical(document) if flat else document, flat=flat)
    if not isinstance(given, dict):
        raise InvalidJob("a patch is an object", hint='For example {"priority": 7}')
    _refuse_read_only(given)
    return given, stated


def _refuse_read_only(document: Any) -> None:
    if not isinstance(document, dict):
        return
    for name in document:
        if name in READ_ONLY:
            raise InvalidJob("is said by the service, not by the client", field=name)
