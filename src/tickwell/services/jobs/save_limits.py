"""What a definition may have when it is saved; one that is stored with more stays readable."""

from __future__ import annotations

import re

from tickwell.domain.job import Job
from tickwell.domain.naming import is_name
from tickwell.domain.policy import DAY, Misfire, OnMisfire
from tickwell.errors import InvalidJob
from tickwell.services.callbacks.callback import is_sender

MOST_TAGS = 50
#: An id, and the name of the job that sends a callback, with the letters of either case: on a page
#: nobody tells them apart.
_ID = re.compile(
    r"(callback-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE
)


def require_savable(job: Job, before: Job | None = None) -> None:
    """Refuse a name in the form of an id, too many tags, and a setting without effect.

    What was so before the edit may stay.
    """
    if before is None or job.name != before.name:
        require_own_name(job, is_new=before is None)
    if job.tags and (before is None or job.tags != before.tags):
        _require_few_tags(job.tags)
    if before is None or job.misfire != before.misfire:
        require_effective(job.misfire)


def require_effective(misfire: Misfire) -> None:
    """Refuse a catch-up window where the policy does not look at it."""
    if misfire.policy is not OnMisfire.ALL and misfire.catchup_window != DAY:
        raise InvalidJob(
            f"has no effect with the policy {misfire.policy.value!r}",
            field="misfire.catchup_window",
            hint='Use the policy "all", with cap=1 for the newest one only, or leave it out',
        )


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


def _require_few_tags(tags: tuple[str, ...]) -> None:
    """So that a page of jobs stays one: each shows its tags."""
    if len(tags) > MOST_TAGS:
        raise InvalidJob(
            f"a job has {MOST_TAGS} tags at most, and this one {len(tags)}",
            field="tags",
            hint="Put into the payload or the description what nobody filters by",
        )
    for tag in tags:
        if not is_name(tag):
            reason = f"{tag[:40]!r} is no tag: 1 to 255 printable characters are needed"
            raise InvalidJob(reason, field="tags")
