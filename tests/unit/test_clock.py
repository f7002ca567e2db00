import asyncio
import time

import pytest

from tickwell.clock import NEVER, StoreClock, to_datetime, to_millis


@pytest.fixture
def monotonic(monkeypatch):
    """The host's monotonic clock, held still."""
    instant = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: instant[0])
    return instant


def test_it_is_never_ahead_of_the_store_whatever_the_round_trip(monotonic):
    clock = StoreClock()
    # Read at any moment between 99 and 100: at 100 the store's time was at least 50.000.
    clock.sample(50_000, sent=99.0, received=100.0)
    assert clock.now() == 50_000
    monotonic[0] += 1.5
    assert clock.now() == 51_500


def test_a_slow_answer_does_not_blur_a_sharp_one(monotonic):
    clock = StoreClock()
    clock.sample(50_000, sent=100.0, received=100.0)
    monotonic[0] = 110.0
    clock.sample(57_000, sent=107.0, received=110.0)
    assert clock.now() == 60_000


def test_it_follows_the_store_when_that_jumps(monotonic):
    clock = StoreClock()
    clock.sample(50_000, sent=100.0, received=100.0)
    clock.sample(40_000, sent=100.0, received=100.0)
    assert clock.now() == 40_000
    clock.sample(90_000, sent=100.0, received=100.0)
    assert clock.now() == 90_000


def test_the_age_of_a_sample(monotonic):
    clock = StoreClock()
    assert clock.sample_age() == float("inf")
    clock.sample(0, sent=100.0, received=100.0)
    monotonic[0] += 7
    assert clock.sample_age() == 7


def test_it_holds_until_an_instant_and_not_less():
    clock = StoreClock()
    instant = clock.now() + 3
    clock.hold_until(instant)
    assert clock.now() >= instant
    clock.hold_until(instant)  # it is over


def test_it_holds_for_what_was_left_though_the_clock_is_set_back(monotonic, monkeypatch):
    clock, slept = StoreClock(), []
    clock.sample(3_600_000, sent=monotonic[0], received=monotonic[0])

    def sleep(seconds):
        slept.append(seconds)
        monotonic[0] += seconds
        clock.sample(0, sent=monotonic[0], received=monotonic[0])
        assert sum(slept) < 1

    monkeypatch.setattr("time.sleep", sleep)
    clock.hold_until(3_600_004)
    assert clock.now() < 1000


async def test_a_wait_ends_by_a_wake_up_or_by_time():
    clock, wake = StoreClock(), asyncio.Event()
    await clock.wait(wake, 0.001)
    wake.set()
    await clock.wait(wake, 3600)
    assert wake.is_set()


def test_instants_and_datetimes():
    for instant in (0, 1, 1_794_780_979_390, NEVER):
        assert to_millis(to_datetime(instant)) == instant
