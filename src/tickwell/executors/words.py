"""What handlers return and raise, as it is kept."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome
from tickwell.executors.results import stored
from tickwell.executors.run import snoozed_for
from tickwell.executors.text import clean

#: Characters kept of an error.
ERROR_LIMIT = 4_000
_HERE = str(Path(__file__).parent)


def succeeded(result: Any) -> Outcome:
    """The outcome of a handler that returned."""
    return Outcome(kind=OutcomeKind.SUCCEEDED, result=None if result is None else stored(result))


def raised(error: BaseException) -> Outcome:
    """The outcome of a handler that raised: whatever it is, it is a failed attempt."""
    delay = snoozed_for(error)
    if delay is not None:
        return Outcome(kind=OutcomeKind.SNOOZED, delay=delay)
    error = error.with_traceback(_from_handler(error.__traceback__))
    return Outcome(kind=OutcomeKind.FAILED, error=describe(error))


def describe(error: BaseException) -> str:
    """The end of a traceback, where the cause stands."""
    text = clean("".join(traceback.format_exception(error)).rstrip())
    return text if len(text) <= ERROR_LIMIT else "…" + text[-ERROR_LIMIT:]


def _from_handler(trace: TracebackType | None) -> TracebackType | None:
    """From the handler on: how it was called helps nobody who reads why it failed."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return trace
