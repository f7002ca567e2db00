"""Expressions that mean to keep a planner busy: A2 of the proofs. `test_refusals.py` has the rest.

Work is counted in calls, not in milliseconds, so that a slow machine changes nothing.
"""

import sys
from datetime import UTC, datetime

import pytest

from tickwell.domain.trigger import Cron

#: Calls that one fire time may cost: 5 ms are enough for many more.
MOST = 5_000
START = datetime(2096, 3, 1, tzinfo=UTC)


def calls(function):
    """How many functions were called, and the answer."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        answer = function()
    finally:
        sys.setprofile(None)
    return count, answer


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Africa/Casablanca"])
@pytest.mark.parametrize(
    "expr",
    [
        "* * * * * *",
        "0 0 29 2 *",
        "0 0 29 2 */7",
        "59 59 23 31 12 *",
        "0 0 31W 12 5L",
        "0 0 29 2 1#5",
        f"{','.join(map(str, range(60)))} */23 * * *",
        f"0 0 {','.join(map(str, range(1, 32)))} 2 *",
    ],
)
def test_the_next_fire_time_is_found_in_few_steps(expr, zone):
    trigger = Cron(expr, zone)
    count, found = calls(lambda: trigger.next(START))
    assert found is not None
    assert count < MOST
