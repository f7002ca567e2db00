"""The calendar on the two days of a year that have another length."""

import re
from datetime import date
from zoneinfo import ZoneInfo

from tickwell.services.insights.density import Density
from tickwell.ui.svg.heatmap import days_of, heat_chart

HOUR = 3_600_000
ROME = ZoneInfo("Europe/Rome")


def hours_of(day, found):
    """What the fields of a day say, by the hour that the clock shows."""
    chart = heat_chart(days_of(day, 1, ROME), Density(hours=found), 0, ROME)
    said = re.findall(r"<title>\w+ \d\d \w+, (\d\d):00(.*?): (\d+)</title>", chart)
    assert len(said) == 24
    return {int(hour): (words, int(count)) for hour, words, count in said}


def test_an_hour_that_the_clock_leaves_out_holds_nothing_of_the_next():
    three = 1_774_746_000_000  # 2026-03-29T01:00Z, when it becomes 03:00 in Rome
    found = hours_of(date(2026, 3, 29), {three - HOUR: 5, three: 7})
    assert [found[hour] for hour in (1, 2, 3)] == [("", 5), (", left out", 0), ("", 7)]


def test_an_hour_that_comes_twice_holds_both():
    two = 1_792_886_400_000  # 2026-10-25T00:00Z, the first 02:00 in Rome
    found = hours_of(date(2026, 10, 25), {two - HOUR: 1, two: 3, two + HOUR: 4, two + 2 * HOUR: 8})
    assert [found[hour] for hour in (1, 2, 3)] == [("", 1), (", twice", 7), ("", 8)]
