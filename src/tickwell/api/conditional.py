"""`ETag` and `If-Match`: an edit says which version it was made from."""

from __future__ import annotations

import re

from fastapi import Request

from tickwell.services.access.actor import Actor
from tickwell.web.context import context_of
from tickwell.web.problems import PreconditionFailed, PreconditionRequired

#: One tag or several; a weak one is read and never matches.
_TAGS = re.compile(r'(?:W/)?"[^"]*"(?:\s*,\s*(?:W/)?"[^"]*")*')
_TAG = re.compile(r'(?<!W/)"([0-9]{1,9})"')


def etag(version: int) -> str:
    """The tag of a definition; the cursor moves without changing it."""
    return f'"{version}"'


async def expected_version(
    request: Request, actor: Actor, key: str, *, required: bool = False
) -> int | None:
    """The version of the job that `If-Match` names; None: any will do."""
    given = request.headers.get("if-match")
    if given is None:
        if required:
            raise PreconditionRequired(
                "an edit could undo somebody else's: send If-Match with the ETag of the job that"
                ' was read, or "*" to overwrite whatever is there'
            )
        return None
    if given.strip() in {"*", '"*"'}:
        return None
    named = [int(version) for version in _TAG.findall(given)]
    if not named or not _TAGS.fullmatch(given.strip()):
        raise PreconditionFailed(f"no version of a job has the tag {given[:64]}")
    if len(named) == 1:
        return named[0]
    found = await context_of(request).operations.jobs.get(actor, key)
    return found.job.version if found.job.version in named else named[0]
