"""What a definition may have when it is saved; one that is stored with more stays readable."""

from __future__ import annotations

import re

from tickwell.domain.job import Job
from tickwell.errors import InvalidJob
from tickwell.services.callbacks.callback import is_sender

#: An id, and the name of the job that sends a callback, with the letters of either case: on a page
#: nobody tells them apart.
_ID = re.compile(
    r"(callback-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE
)


def require_savable(job: Job, before: Job | None = None) -> None:
    """Refuse a name that could be taken for another's id; what it was before may stay."""
    if before is None or job.name != before.name:
        require_own_name(job, is_new=before is None)


def require_own_name(job: Job, *, is_new: bool = True) -> None:
    """Refuse the form of an id, and that of the jobs of callbacks to all others."""
    found = _ID.fullmatch(job.name)
    if found is None or (is_new and is_sender(job)):
        return
    kept = "the job of a callback" if found[1] else "an id"
    raise InvalidJob(
        f"{job.name} is in the form of {kept}",
        field="name",
        hint="Choose a name that says what the job does, as daily-report",
    )
