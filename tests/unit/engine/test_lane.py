import pytest

from tickwell.engine.lane import Lane


@pytest.fixture
def lane():
    return Lane("task", slots=100, batch=500, lead=0.5)


@pytest.mark.parametrize("seconds", [0.0001, 0.01, 1, 3, 10, 30, 300])
def test_a_free_slot_is_always_worth_a_claim(lane, seconds):
    lane.mean = seconds * 1000
    for lane.in_hand in range(100):
        assert lane.room() > 0


def test_short_attempts_are_claimed_ahead_in_large_steps(lane):
    lane.mean = 0.1
    assert lane.ahead() == 4 * lane.batch
    lane.in_hand = 1500
    assert lane.room() == 0
    lane.in_hand = 1000
    assert lane.room() == lane.batch


def test_long_attempts_are_not_claimed_ahead(lane):
    lane.mean = 60_000
    assert lane.ahead() == 0
    lane.in_hand = 100
    assert lane.room() == 0
