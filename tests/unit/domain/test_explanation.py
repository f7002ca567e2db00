"""Every reason is said in words, for executions and for skips alike."""

import pytest

from tickwell.domain.execution import BY_NEWER_FIRE, Reason, State
from tickwell.domain.explanation import (
    AT_MOST_ONCE,
    GAVE_UP,
    OVERDUE,
    SKIPPED_BECAUSE,
    WAITS_BECAUSE,
    explanation_of,
    reason_of,
)

#: What stores have of executions that ended or wait, by reason; that of a skip is its code.
TEXTS = {
    Reason.OUT_OF_ATTEMPTS: (State.DEAD, "3 of 3 attempts"),
    Reason.NOT_RETRYABLE: (State.DEAD, f"{GAVE_UP}no such address"),
    Reason.LOST: (State.DEAD, "lost 3 times"),
    Reason.TOO_OLD: (State.DEAD, OVERDUE),
    Reason.AT_MOST_ONCE: (State.DEAD, f"{AT_MOST_ONCE}the attempt had started"),
    Reason.CANCELLED: (State.CANCELLED, "cancelled on request"),
    Reason.REPLACED: (State.CANCELLED, BY_NEWER_FIRE),
    Reason.NO_WORKER: (State.PARKED, "no live worker knows handler 'report'"),
}
CODED = {State.SKIPPED: SKIPPED_BECAUSE, State.WAITING: WAITS_BECAUSE, State.BLOCKED: WAITS_BECAUSE}


def test_there_is_no_reason_without_words():
    assert TEXTS.keys() | SKIPPED_BECAUSE.keys() | WAITS_BECAUSE.keys() == set(Reason)


@pytest.mark.parametrize("reason", TEXTS)
def test_the_text_of_an_end_is_a_reason_and_says_it(reason):
    state, text = TEXTS[reason]
    assert reason_of(state, text) is reason
    assert explanation_of(state, text) == text


@pytest.mark.parametrize("state", CODED)
def test_a_code_is_said_as_a_sentence(state):
    for reason, words in CODED[state].items():
        assert reason_of(state, reason) is reason
        assert explanation_of(state, reason) == words
        assert " " in words


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.SUCCEEDED])
def test_what_goes_on_needs_no_reason(state):
    assert reason_of(state, None, "postponed: its project is at its limit") is None
    assert not explanation_of(state, None, "postponed: its project is at its limit")
