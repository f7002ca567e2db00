"""Keys that are filled in with fields of a payload or of a job: "{payload.customer}"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tickwell.domain.gate import LONGEST, hashed_if_odd, value_in
from tickwell.errors import InvalidJob

if TYPE_CHECKING:
    from tickwell.domain.job import Job

_PLACEHOLDER = re.compile(r"\{(\{)?\s*([^{}]*?)\s*\}(?(1)\})")
_FIELD = re.compile(r"payload(\.[A-Za-z0-9_-]+)+|job\.(name|queue|tags)")


def check_template(key: object, field: str) -> None:
    """Refuse a key with a placeholder that nothing fills in."""
    if not isinstance(key, str) or not 1 <= len(key) <= LONGEST:
        raise InvalidJob("a key has 1 to 255 characters", field=field)
    for match in _PLACEHOLDER.finditer(key):
        if not _FIELD.fullmatch(match[2]):
            raise InvalidJob(
                f"{match[0]!r:.80} is not a field of the payload or of the job",
                field=field,
                hint="Use {payload.customer}, {job.name}, {job.queue} or {job.tags}",
            )


def placeholders(key: str) -> list[str]:
    """What a key names between braces."""
    return [match[2] for match in _PLACEHOLDER.finditer(key)]


def fill_template(key: str, job: Job, payload: Any) -> str:
    """The key of an execution with this payload; one that cannot be indexed is hashed."""

    def fill(match: re.Match[str]) -> str:
        where, _, rest = match[2].partition(".")
        if where == "payload":
            return value_in(payload, rest)
        return ",".join(sorted(job.tags)) if rest == "tags" else str(getattr(job, rest))

    return hashed_if_odd(_PLACEHOLDER.sub(fill, key))
