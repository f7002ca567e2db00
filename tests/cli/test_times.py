"""Times as people write and read them."""

import pytest

from tickwell.cli.options.times import read_time, say_distance, say_span, say_time, say_took
from tickwell.errors import InvalidInput

#: 15 June 2026, 10:00 UTC.
NOW = 1_781_517_600_000
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("now", NOW),
        ("2h", NOW - 2 * HOUR),
        ("-2h", NOW - 2 * HOUR),
        ("+2h", NOW + 2 * HOUR),
        ("2026-06-15T10:00:00Z", NOW),
        ("2026-06-15T12:00:00+02:00", NOW),
        ("2026-06-15 10:00", NOW),
        ("2026-06-15", NOW - 10 * HOUR),
    ],
)
def test_reading(text, instant):
    assert read_time(text, "since", NOW) == instant


def test_where_only_what_is_ahead_makes_sense_a_bare_duration_is_ahead():
    assert read_time("2h", "at", NOW, ahead=True) == NOW + 2 * HOUR
    assert read_time("-2h", "at", NOW, ahead=True) == NOW - 2 * HOUR


def test_a_zone_is_taken_or_asked_for():
    assert read_time("2026-06-15 12:00", "at", NOW, tz="Europe/Rome") == NOW
    with pytest.raises(InvalidInput, match="at: '2026-06-15 12:00' has no offset"):
        read_time("2026-06-15 12:00", "at", NOW, tz=None)
    with pytest.raises(InvalidInput, match="Europe/Room"):
        read_time("2026-06-15 12:00", "at", NOW, tz="Europe/Room")


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "2026-02-30", "h", "5 o'clock"])
def test_what_is_no_time_is_named(text):
    with pytest.raises(InvalidInput, match=r"since: .* is not a time\. For example"):
        read_time(text, "since", NOW)


@pytest.mark.parametrize(
    ("millis", "said"),
    [
        (0, "0ms"),
        (40, "40ms"),
        (1234, "1.23s"),
        (61_000, "1m1s"),
        (2 * HOUR, "2h"),
        (26 * HOUR + 1, "1d2h"),
        (24 * HOUR + 1000, "1d"),
    ],
)
def test_spans(millis, said):
    assert say_span(millis) == said


def test_saying():
    assert say_time("2026-06-15T10:00:00.000Z") == "2026-06-15 10:00:00"
    assert say_time("2026-06-15T10:00:00.250Z") == "2026-06-15 10:00:00.250"
    assert say_time(None) == say_distance(None, NOW) == say_took(None, None) == ""
    assert say_distance("2026-06-15T12:00:00.000Z", NOW) == "in 2h"
    assert say_distance("2026-06-15T09:59:00.000Z", NOW) == "1m ago"
    assert say_distance("2026-06-15T10:00:00.500Z", NOW) == "now"
    assert say_took("2026-06-15T10:00:00.000Z", "2026-06-15T10:00:01.500Z") == "1.5s"
