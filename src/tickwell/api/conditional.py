"""`ETag` and `If-Match`: an edit says which version it was made from."""

from __future__ import annotations

import re

from fastapi import Request

from tickwell.api.problems import PreconditionFailed, PreconditionRequired

_TAG = re.compile(r'"([0-9]{1,9})"')


def etag(version: int) -> str:
    """The tag of a definition; the cursor moves without changing it."""
    return f'"{version}"'


def expected_version(request: Request, *, required: bool = False) -> int | None:
    """The version that `If-Match` names; None: any will do."""
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
    found = _TAG.fullmatch(given.strip())
    if found is None:
        raise PreconditionFailed(f"no version of a job has the tag {given[:64]}")
    return int(found[1])
