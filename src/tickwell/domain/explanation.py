"""Why an execution stands where it does: the reason as a code, and its explanation in words.

Stores keep one text. A skip's text is its code; that of a dead, cancelled or parked execution is a
sentence that is written here or in `domain.outcome`, so that one table reads both.
"""

from __future__ import annotations

import re

from tickwell.domain.execution import BY_NEWER_FIRE, ENDED, Reason, State

#: Why an execution is dead where nothing more precise is known.
NOT_RETRIED = "not to be retried"
OVERDUE = "older than the retry policy allows"
AT_MOST_ONCE = "at most once: "
#: Before the words of an attempt that was given back untried: its project is at a limit.
POSTPONED = "postponed: "
#: Before the words of a handler or a receiver that asked for no further attempt.
GAVE_UP = "gave up: "

#: Why a fire time was skipped, in words.
SKIPPED_BECAUSE = {
    Reason.MISFIRE: "it was missed, and the misfire policy skips missed fire times",
    Reason.OVERLAP: "the previous execution had not ended, and the overlap policy skips",
    Reason.EXPIRED: "it was not started before it expired",
    Reason.QUOTA: "a limit of the project was reached",
    Reason.WITHDRAWN: "a pause, an edit or a deletion withdrew it before it started",
    Reason.PAUSED: "the job was paused at that time",
    Reason.CONDITION: "its only_if condition answered no",
    Reason.BY_PERSON: "a person skipped this occurrence",
    Reason.MAINTENANCE: "a maintenance window covered it",
    Reason.BACKLOG: "it was missed, held as one of too many to catch up, and passed over",
}
#: Why a missed fire time has no answer yet.
HELD_BECAUSE = "missed, and held as one of too many to catch up; waits for a decision"
#: Why one waits or is blocked, in words.
WAITS_BECAUSE = {
    Reason.RATE: "its rate limit is used up; it starts as soon as the rate allows",
    Reason.QUOTA: "postponed: its project is at a limit of what may run at once",
}
_CODES = {
    State.SKIPPED: SKIPPED_BECAUSE,
    State.WAITING: WAITS_BECAUSE,
    State.BLOCKED: WAITS_BECAUSE,
}
_DEAD = (
    (re.compile(re.escape(AT_MOST_ONCE)), Reason.AT_MOST_ONCE),
    (re.compile(re.escape(GAVE_UP)), Reason.NOT_RETRYABLE),
    (re.compile(rf"{NOT_RETRIED}$"), Reason.NOT_RETRYABLE),
    (re.compile(rf"{OVERDUE}$"), Reason.TOO_OLD),
    (re.compile(r"lost \d+ times$"), Reason.LOST),
    (re.compile(r"\d+ of \d+ attempts$"), Reason.OUT_OF_ATTEMPTS),
)


def reason_of(state: State, text: str | None, error: str | None = None) -> Reason | None:
    """The reason behind a stored text; None while nothing needs one.

    `error` is that of the newest attempt, by which one that waits may have been postponed.
    """
    if text is None:
        return Reason.QUOTA if _is_postponed(state, error) else None
    if state in _CODES:
        return Reason(text) if text in _CODES[state] else None
    if state is State.CANCELLED:
        return Reason.REPLACED if text == BY_NEWER_FIRE else Reason.CANCELLED
    if state is State.PARKED:
        return Reason.NO_WORKER
    if state is State.DEAD:
        return next((reason for words, reason in _DEAD if words.match(text)), None)
    return None


def repeat_of(state: State) -> str:
    """What to say to a request that found a run in this state, and made none."""
    if state in ENDED:
        return f"not new: the same run was requested before; it is {state}"
    return f"not new: the same run is {'running' if state is State.RUNNING else 'pending'}"


def explanation_of(state: State, text: str | None, error: str | None = None) -> str:
    """The reason in words; empty where there is none."""
    if text is None and error is not None and _is_postponed(state, error):
        return error
    reason = reason_of(state, text)
    if state in _CODES and reason is not None:
        return _CODES[state][reason]
    return text or ""


def _is_postponed(state: State, error: str | None) -> bool:
    return state is State.WAITING and error is not None and error.startswith(POSTPONED)
