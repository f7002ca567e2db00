"""Bodies that hold jobs: documents and merge patches, canonical or flat."""

from __future__ import annotations

import marshal
from functools import partial
from typing import Any

from tickwell.domain.coercion import require_name
from tickwell.domain.document import job_from_document
from tickwell.domain.document.initial_state import FIELDS, InitialState, initial_state
from tickwell.domain.job import Job, copied, copier
from tickwell.errors import InvalidInput, InvalidJob
from tickwell.services.cooperative import Pace
from tickwell.services.documents import READ_ONLY
from tickwell.services.jobs.admission import require_within_limits
from tickwell.services.operations.flat_bodies import canonical, flat_error
from tickwell.services.operations.jobs import MOST

#: The fields that say whether a job fires; a flat document may also have `enabled`.
_STATE = frozenset({"state", "pause"})


def definition(
    document: Any, *, flat: bool = False, sent_back: bool = False
) -> tuple[Job, dict[str, Any]]:
    """The job of a document, without an id yet, and the fields that say whether it fires.

    `sent_back`: read-only fields are left out instead of refused.
    """
    try:
        fields, stated = _split(canonical(document) if flat else document, flat=flat)
        if sent_back and isinstance(fields, dict):
            fields = {name: value for name, value in fields.items() if name not in READ_ONLY}
        return _job(fields, {} if sent_back else stated), stated
    except InvalidInput as error:
        raise (flat_error(error, document) if flat else error.placed(str)) from None


def _job(document: Any, stated: dict[str, Any]) -> Job:
    """The job of a document; if it has a mistake, those of its other fields are reported too."""
    if not isinstance(document, dict):
        return job_from_document(document)
    wrong = _read_only(document)
    if wrong:
        document = {name: value for name, value in document.items() if name not in READ_ONLY}
    try:
        job = job_from_document({"id": "", **document})
    except InvalidInput as error:
        wrong += error.all
    else:
        if not wrong:
            return job
    try:
        initial_state(stated)
    except InvalidInput as error:
        wrong += error.all
    raise wrong[0].along_with(wrong[1:])


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
    """The jobs of a batch, and whether they fire; all mistakes are reported at once."""
    if not isinstance(documents, list) or not 1 <= len(documents) <= MOST:
        raise InvalidJob(f"must be a list of 1 to {MOST} jobs", field="jobs")
    found, states, wrong = list[Job](), list[InitialState](), list[InvalidInput]()
    names: dict[str, int] = {}
    pace = Pace()
    for number, document in enumerate(documents):
        if pace.is_long():
            await pace.rest()
        try:
            job, stated = definition(document, flat=True) if flat else alike(document)
            require_within_limits(job)
            states.append(initial_state(stated))
        except InvalidInput as error:
            wrong += error.placed(partial(_of_job, number)).all
            continue
        first = names.setdefault(job.name, number)
        if first != number:
            wrong.append(InvalidJob(f"jobs.{first} has the same name", field=f"jobs.{number}.name"))
        found.append(job)
    if wrong:
        raise SeveralInvalid(wrong)
    return found, states


def _of_job(number: int, field: str) -> str:
    return f"jobs.{number}.{field}" if field else f"jobs.{number}"


def alike(document: Any) -> tuple[Job, dict[str, Any]]:
    """The job of a document, like `definition`.

    Of jobs that differ in name and payload only, the first is read and the others are copied: 5
    instead of 28 microseconds.
    """
    rest, stated = _split(document, flat=False)
    name = rest.get("name") if isinstance(rest, dict) else None
    if type(name) is not str:
        return definition(document)[0], stated
    shared = rest.copy()
    del shared["name"]
    payload = shared.pop("payload", None)
    mark = marshal.dumps(shared, 2)
    known = _ALIKE.get(mark)
    if known is not None:
        job = _renamed(known, name, payload)
        require_name(job, "name")
        return job, stated
    job = definition(document)[0]
    if len(mark) <= _LONGEST:
        if len(_ALIKE) >= _MOST_ALIKE:
            _ALIKE.clear()
        _ALIKE[mark] = copied(job, payload=None)
    return job, stated


class SeveralInvalid(InvalidInput):
    """Several records of one request cannot be used."""

    def __init__(self, problems: list[InvalidInput]) -> None:
        self.problems = problems
        count = "1 field is" if len(problems) == 1 else f"{len(problems)} fields are"
        super().__init__(f"{count} invalid")


_renamed = copier("name", "payload")
#: Definitions that were read lately, by what they share with others; cleared when full.
_ALIKE: dict[bytes, Job] = {}
_MOST_ALIKE = 1024
#: Maximum bytes of a definition that is remembered.
_LONGEST = 4096


def patch_of(document: Any, *, flat: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """A merge patch without read-only fields, and the fields that say whether the job fires."""
    fields, stated = _split(canonical(document, patch=True) if flat else document, flat=flat)
    if not isinstance(fields, dict):
        raise InvalidJob("a patch must be an object", hint='For example {"priority": 7}')
    wrong = _read_only(fields)
    if wrong:
        raise wrong[0].along_with(wrong[1:])
    return fields, stated


def _read_only(document: dict[str, Any]) -> list[InvalidInput]:
    return [InvalidJob("is read-only", field=name) for name in document if name in READ_ONLY]
