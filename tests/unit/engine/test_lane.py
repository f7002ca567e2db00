import pytest

from tickwell.engine.claiming.lane import REMEMBERED, Lane


@pytest.fixture
def lane():
    return Lane("task", capacity=100, batch=500, lead=0.5)


@pytest.mark.parametrize("seconds", [0.0001, 0.01, 1, 3, 10, 30, 300])
def test_a_free_slot_is_always_worth_a_claim(lane, seconds):
    lane.mean = seconds * 1000
    for lane.in_hand in range(100):
        assert lane.room() > 0


def test_short_attempts_are_claimed_ahead_in_large_steps(lane):
    lane.mean = 0.1
    assert lane.ahead() == 10_000
    lane.in_hand = 9601
    assert lane.room() == 0
    lane.in_hand = 9600
    assert lane.room() == lane.batch


def test_what_is_claimed_ahead_is_shared_with_the_other_workers(lane):
    lane.mean = 0.1
    ahead = []
    for lane.company in (1, 2, 4, 20, 21, 1000):
        ahead.append(lane.ahead())
    assert ahead == [10_000, 5_000, 2_500, 500, 500, 500]


def test_what_others_would_start_sooner_is_in_excess(lane):
    lane.mean, lane.in_hand = 100, 1201
    lane.ready.extend([None] * 1101)
    assert lane.excess() == 0
    lane.company = 2
    assert lane.excess() == 601
    lane.in_hand = 1200
    assert lane.excess() == 0


def test_long_attempts_are_not_claimed_ahead(lane):
    lane.mean = 60_000
    assert lane.ahead() == 0
    lane.in_hand = 100
    assert lane.room() == 0


def test_a_project_whose_attempts_only_take_their_slots_any_more_is_not_forgotten(lane):
    for number in range(REMEMBERED + 1):
        lane.share_of(f"p{number}")
    lane.shares["p1"].in_hand = 1
    abandoned = lane.shares["p2"]
    abandoned.seated = 1
    lane.forget_idle()
    assert list(lane.shares) == ["p1", "p2"]
    assert lane.share_of("p2") is abandoned
