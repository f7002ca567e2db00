from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tickwell.clock import NEVER, to_millis
from tickwell.domain.trigger import Every, Window
from tickwell.domain.trigger.duration import Millis
from tickwell.errors import InvalidTrigger

HOUR = 3_600_000


def test_text_timedelta_and_milliseconds_are_one():
    assert Every("5m") == Every(timedelta(minutes=5)) == Every("5m")
    assert hash(Every("5m")) == hash(Every("PT5M"))
    assert Every("5m").period == 300_000


def test_it_is_aligned_to_the_epoch():
    trigger = Every("5m")
    assert trigger.after(0) == 300_000
    assert trigger.after(1) == 300_000
    assert trigger.after(300_000) == 600_000
    assert trigger.after(-1) == 0
    assert trigger.bound("job-1") is trigger


def test_a_phase_moves_the_alignment():
    trigger = Every("5m", phase="10s")
    assert trigger.after(0) == 10_000
    assert trigger.after(10_000) == 310_000


def test_less_than_a_tenth_of_a_second_is_refused():
    assert Every("100ms").after(0) == 100
    with pytest.raises(InvalidTrigger, match=r"every: the period is 99 ms, 100 ms at least"):
        Every("99ms")
    with pytest.raises(InvalidTrigger):
        Every("0s")


@pytest.mark.parametrize("phase", ["5m", "1h"])
def test_a_phase_beyond_the_period_is_refused(phase):
    with pytest.raises(InvalidTrigger, match="phase: must be less than the period"):
        Every("5m", phase=phase)


def test_counted_from_the_finish():
    trigger = Every("5m", after="finish")
    assert trigger.follows_finish
    assert trigger.counts_from == "finish"
    assert trigger.after(123) == 300_123
    assert not Every("5m").follows_finish
    with pytest.raises(InvalidTrigger, match="phase"):
        Every("5m", after="finish", phase="1s")
    with pytest.raises(InvalidTrigger, match="after: cannot be 'end'"):
        Every("5m", after="end")  # type: ignore[arg-type]


def test_counted_from_the_finish_it_waits_for_the_window_to_open():
    trigger = Every("1h", after="finish", within=(Window("*", "09:00", "17:00"),))
    assert trigger.after(10 * HOUR + 5) == 11 * HOUR + 5
    assert trigger.after(16 * HOUR + 5) == (24 + 9) * HOUR
    late = Every("1h", after="finish", start=datetime(1970, 1, 2, tzinfo=UTC))
    assert late.after(0) == 24 * HOUR
    ending = Every("1h", after="finish", until=datetime(1970, 1, 2, tzinfo=UTC))
    assert ending.after(23 * HOUR) == 24 * HOUR
    assert ending.after(23 * HOUR + 1) is None


def test_a_changed_copy_keeps_the_rest():
    trigger = Every("5m", after="finish", max_runs=3)
    changed = replace(trigger, max_runs=4)
    assert changed == Every("5m", after="finish", max_runs=4)
    assert replace(changed, period=Millis(60_000)).counts_from == "finish"


def test_at_the_end_of_time_there_is_nothing():
    assert Every("1d").after(NEVER) is None
    assert Every("1d", after="finish").after(NEVER) is None
    assert Every("1d").next(datetime.max.replace(tzinfo=UTC)) is None


def test_start_and_until_count_themselves():
    start, until = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
    trigger = Every("5m", start=start, until=until)
    begin = to_millis(start)
    assert list(trigger.between(0, NEVER)) == [begin, begin + 300_000, begin + 600_000]


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (Every("5m"), "every 5 minutes"),
        (Every("1h"), "every hour"),
        (Every("90m"), "every 1 hour 30 minutes"),
        (Every("1w"), "every 7 days"),
        (Every("500ms"), "every 500 milliseconds"),
        (Every("5m", phase="10s"), "every 5 minutes, 10 seconds late"),
        (Every("5m", after="finish"), "every 5 minutes, counted from the end of the last run"),
        (
            Every("5m", max_runs=3, jitter="30s", within=(Window("mon-fri", "09:00", "17:00"),)),
            (
                "every 5 minutes; only Monday to Friday 09:00 to 17:00; 3 times at most;"
                " each up to 30 seconds later"
            ),
        ),
        (
            Every("1d", start=datetime(2026, 1, 1, tzinfo=UTC), max_runs=1),
            "every day; from 2026-01-01 00:00 UTC; once at most",
        ),
    ],
)
def test_explained(trigger, words):
    assert trigger.explain() == words
