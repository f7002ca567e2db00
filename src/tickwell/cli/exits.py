"""Exit codes: what a script learns without reading a word."""

from __future__ import annotations

from contextvars import ContextVar
from enum import IntEnum

from tickwell.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    StoreUnavailable,
    TickwellError,
    Unauthenticated,
)


class Code(IntEnum):
    """What a command ends with. Also in docs/command-line.md; 130 is Ctrl-C."""

    OK = 0
    #: It failed, or what was followed did not succeed, or the doctor found something broken.
    FAILED = 1
    #: What was asked for cannot be; nothing was changed.
    BAD_INPUT = 2
    #: There is no such job or execution.
    NOT_FOUND = 3
    #: The record is not in the state that the command needs; nothing was changed.
    CONFLICT = 4
    #: The store does not answer; the same command may be repeated later.
    UNAVAILABLE = 5
    #: The key is not known, or its role does not allow it.
    NOT_ALLOWED = 6
    #: What was followed has not ended: it is parked, or the time to wait is over.
    NOT_ENDED = 7


_CODES: dict[type[TickwellError], Code] = {
    InvalidInput: Code.BAD_INPUT,
    NotFound: Code.NOT_FOUND,
    Conflict: Code.CONFLICT,
    StoreUnavailable: Code.UNAVAILABLE,
    Unauthenticated: Code.NOT_ALLOWED,
    Forbidden: Code.NOT_ALLOWED,
}


def code_of(error: TickwellError) -> Code:
    """The exit code for an error."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), Code.FAILED)


PROGRAM_NAME: ContextVar[str] = ContextVar("program_name", default="tickwell")
