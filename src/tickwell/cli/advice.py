"""What to do next, in the words of the command line, where an error does not say it."""

from __future__ import annotations

from tickwell.errors import NotFound, TickwellError, Unauthenticated

#: Kinds of records, and the command that lists them.
_LISTS = {
    "job": "jobs list",
    "execution": "executions list",
    "worker": "workers",
    "project": "projects list",
    "user": "users list",
    "member": "members list",
    "key": "keys list",
    "secret": "secrets list",
    "callback": "callbacks list",
}


def advised(error: TickwellError) -> str:
    """The error as a sentence that ends with what to do."""
    if isinstance(error, NotFound) and error.kind in _LISTS:
        return f"{error}; see: tickwell {_LISTS[error.kind]}"
    if isinstance(error, Unauthenticated):
        what = str(error).partition(";")[0]
        return f"{what}; TICKWELL_KEY or --api-key takes one, and tickwell keys add makes one"
    return str(error)
