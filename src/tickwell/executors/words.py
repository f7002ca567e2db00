"""What handlers return and raise, as it is kept."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome
from tickwell.domain.policy import Retry
from tickwell.executors.results import stored
from tickwell.executors.run import awaited_in, gives_up, snoozed_for
from tickwell.executors.text import end_of, shown

#: Characters kept of an error.
ERROR_LIMIT = 4_000
#: Characters kept of the words of a handler that gives up.
WHY_LIMIT = 200
_HERE = str(Path(__file__).parent)


def succeeded(result: Any) -> Outcome:
    """The outcome of a handler that returned."""
    return Outcome(kind=OutcomeKind.SUCCEEDED, result=None if result is None else stored(result))


def raised(error: BaseException, retry: Retry) -> Outcome:
    """The outcome of a handler that raised: whatever it is, it is a failed attempt."""
    delay = snoozed_for(error)
    if delay is not None:
        return Outcome(kind=OutcomeKind.SNOOZED, delay=delay, awaits=awaited_in(error))
    error = error.with_traceback(_from_handler(error.__traceback__))
    failed = Outcome(kind=OutcomeKind.FAILED, error=describe(error))
    words = gives_up(error)
    if words is None:
        words = retry.why_not_after(error) or None
    if words is not None:
        words = " ".join(words.split())[:ERROR_LIMIT]
        failed.retry, failed.why_final = False, shown(words)[:WHY_LIMIT]
    return failed


def describe(error: BaseException) -> str:
    """The end of a traceback, where the cause stands."""
    return end_of("".join(traceback.format_exception(error)), ERROR_LIMIT)


def _from_handler(trace: TracebackType | None) -> TracebackType | None:
    """From the handler on: how it was called does not explain a failure."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return trace
