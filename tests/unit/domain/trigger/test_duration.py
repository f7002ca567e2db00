from datetime import timedelta

import pytest

from tickwell.domain.trigger import format_duration, parse_duration
from tickwell.domain.trigger.duration import Millis, read_duration
from tickwell.errors import InvalidTrigger


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("500ms", 500),
        ("5s", 5_000),
        ("5m", 300_000),
        ("2h", 7_200_000),
        ("3d", 259_200_000),
        ("1w", 604_800_000),
        ("1h30m", 5_400_000),
        ("1w2d3h4m5s6ms", 788_645_006),
        ("90M", 5_400_000),
        (" 5m ", 300_000),
        ("0s", 0),
        ("PT5M", 300_000),
        ("pt5m", 300_000),
        ("P1D", 86_400_000),
        ("P1W", 604_800_000),
        ("P1DT2H30M", 95_400_000),
        ("PT0.5S", 500),
        ("PT1,25S", 1_250),
        (timedelta(minutes=5), 300_000),
        (timedelta(microseconds=1_999), 1),
        (Millis(1234), 1234),
        ("1.5h", 5_400_000),
        ("0.5s", 500),
        ("1h0.5m", 3_630_000),
    ],
)
def test_read(text, millis):
    assert parse_duration(text) == millis


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "5",
            "m",
            "5x",
            "5m3h",
            "-5m",
            "0.5ms",
            ".5s",
            "5 m",
            "P",
            "PT",
            "P1M",
            "P1Y",
            "P1DT",
        ),
        *(
            "5m" * 100,
            "9" * 60 + "d",
            None,
            1.5,
            True,
            -1,
            timedelta(seconds=-1),
            "\u0661s",
            "5m\n5s",
        ),
    ],
)
def test_refused(text):
    with pytest.raises(InvalidTrigger) as caught:
        parse_duration(text, field="jitter")
    assert caught.value.field == "jitter"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "0s"),
        (1, "1ms"),
        (1_500, "1s500ms"),
        (5_400_000, "1h30m"),
        (604_800_000, "1w"),
        (864_000_000, "10d"),
        (1_209_600_000, "2w"),
        (90_061_001, "1d1h1m1s1ms"),
    ],
)
def test_written(millis, text):
    assert format_duration(millis) == text
    assert parse_duration(text) == millis


@pytest.mark.parametrize(
    ("number", "readings"),
    [
        (300, '"300s" for seconds or "300ms" for milliseconds'),
        (0, '"0s" for seconds or "0ms" for milliseconds'),
        (2.0, '"2s" for seconds or "2ms" for milliseconds'),
        (1.5, '"1.5s" for seconds'),
    ],
)
def test_a_bare_number_is_refused_with_both_readings(number, readings):
    with pytest.raises(InvalidTrigger) as in_code:
        parse_duration(number, field="period")
    assert str(in_code.value) == (
        f"period: must have a unit; got {number:g}. Write {readings}, or pass a timedelta"
    )
    for written in (number, f"{number:g}"):
        with pytest.raises(InvalidTrigger) as in_a_document:
            read_duration(written, field="period")
        assert str(in_a_document.value) == (
            f"period: must have a unit; got {number:g}. Write {readings}"
        )


@pytest.mark.parametrize("number", [10**400, -(10**400), float("nan"), float("inf"), -0.5])
def test_a_number_that_no_unit_makes_a_duration_is_refused(number):
    for read in (parse_duration, read_duration):
        with pytest.raises(InvalidTrigger, match="must be between 0 and 100 years"):
            read(number)
