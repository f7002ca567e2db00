"""Whether a job begins paused, as its document says."""

import pytest

from tickwell.domain.document.initial_state import initial_state, require_unchanged
from tickwell.domain.job import JobState
from tickwell.errors import InvalidInput

UNTIL = "2027-01-07T00:00:00Z"
MILLIS = 1_799_280_000_000


@pytest.mark.parametrize(
    ("document", "paused", "why", "until"),
    [
        ({}, False, None, None),
        ({"state": None, "pause": None, "enabled": None}, False, None, None),
        ({"state": "active", "pause": None}, False, None, None),
        ({"enabled": True}, False, None, None),
        ({"state": "paused"}, True, None, None),
        ({"enabled": False, "state": "paused"}, True, None, None),
        ({"pause": {"why": ""}}, True, "", None),
        ({"state": "paused", "pause": {"why": "x", "until": UNTIL}}, True, "x", MILLIS),
        ({"pause": {"by": "me", "since": UNTIL, "why": "x", "until": None}}, True, "x", None),
    ],
)
def test_what_a_document_says(document, paused, why, until):
    state = initial_state(document)
    assert (state.paused, state.why, state.until) == (paused, why, until)
    assert state.stated is any(value is not None for value in document.values())


def test_a_pause_that_is_over_counts_no_more():
    state = initial_state({"state": "paused", "pause": {"until": UNTIL}})
    assert state.is_paused(MILLIS - 1)
    assert not state.is_paused(MILLIS)


@pytest.mark.parametrize(
    ("document", "field", "says"),
    [
        ({"state": "finished"}, "state", "no job can be saved as 'finished'"),
        ({"state": "deleted"}, "state", "no job can be saved as 'deleted'"),
        ({"state": "Paused"}, "state", "no job can be saved as 'Paused'"),
        ({"state": 7}, "state", "no job can be saved as 7"),
        ({"state": ["paused"]}, "state", "no job can be saved as"),
        ({"enabled": "no"}, "enabled", "neither true nor false"),
        ({"state": "active", "pause": {}}, "state", "state and pause contradict"),
        ({"state": "paused", "enabled": True}, "state", "state and enabled contradict"),
        ({"enabled": True, "pause": {"why": "x"}}, "enabled", "enabled and pause contradict"),
        ({"pause": "holidays"}, "pause", "is no pause"),
        ({"pause": {"why": 7}}, "pause", "is no pause"),
        ({"pause": {"untill": UNTIL}}, "pause", "is no pause"),
        ({"pause": {"until": "soon"}}, "pause", "is no pause"),
        ({"pause": {"until": 7}}, "pause", "is no pause"),
    ],
)
def test_what_cannot_be_is_refused(document, field, says):
    with pytest.raises(InvalidInput) as refused:
        initial_state(document)
    assert refused.value.field == field
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("document", "current", "fits"),
    [
        ({}, JobState.PAUSED, True),
        ({"state": "paused", "pause": {"why": "x"}}, JobState.PAUSED, True),
        ({"state": "finished", "pause": None}, JobState.FINISHED, True),
        ({"state": "active"}, JobState.FINISHED, True),
        ({"state": "paused"}, JobState.ACTIVE, False),
        ({"state": "active"}, JobState.PAUSED, False),
        ({"enabled": True}, JobState.PAUSED, False),
        ({"state": "finished"}, JobState.ACTIVE, False),
    ],
)
def test_an_edit_says_what_is_so(document, current, fits):
    if fits:
        require_unchanged(document, current)
    else:
        with pytest.raises(InvalidInput):
            require_unchanged(document, current)
