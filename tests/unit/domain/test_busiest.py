"""How often a trigger fires on its busiest day, and in its busiest minute."""

import pytest

from tickwell import Cron, Every, OnDemand


@pytest.mark.parametrize(
    ("trigger", "day", "minute"),
    [
        (Cron("* * * * * *"), 86_400, 60),
        (Cron("*/5 9-17 * * 1-5"), 108, 1),
        (Cron("0 0 1 1 *"), 1, 1),
        (Every("100ms"), 864_000, 600),
        (Every("7h"), 4, 1),
        (Every("10s", after="finish"), 8_640, 6),
        (OnDemand(), 0, 0),
        (Cron("0 9 * * *") | Every("1h"), 25, 2),
    ],
    ids=str,
)
def test_the_busiest_day_and_minute(trigger, day, minute):
    assert trigger.busiest() == (day, minute)
