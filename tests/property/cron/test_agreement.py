"""Thousands of made-up expressions, judged by a brute-force matcher and by cronsim."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSimError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.cron.clock_changes import ZONES
from tests.property.cron.expressions import make_expression
from tests.property.cron.oracle import Oracle
from tests.property.cron.reference import reference_fires, reference_next
from tickwell.clock import to_datetime, to_millis
from tickwell.domain.trigger import Cron
from tickwell.errors import InvalidTrigger

#: Lord Howe moves by half an hour, which cronsim gets wrong: see test_differences.
EVEN_ZONES = ["UTC", *(zone for zone in ZONES if zone != "Australia/Lord_Howe")]


def a_moment(random: Random) -> datetime:
    return datetime(1971, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randrange(130 * 31_557_600))


def a_span(oracle: Oracle) -> timedelta:
    """So long that a few hundred wall times are looked at."""
    per_day = len(oracle.seconds) * len(oracle.minutes) * len(oracle.hours)
    return min(timedelta(days=300 / per_day), timedelta(days=400))


def fires(trigger: Cron, start: datetime, end: datetime) -> list[datetime]:
    return [to_datetime(t) for t in trigger.between(to_millis(start), to_millis(end))]


@pytest.mark.parametrize("seed", range(20))
def test_brute_force_finds_the_same_fires(seed):
    random = Random(seed)
    for _ in range(100):
        expr = make_expression(random, seconds=random.random() < 0.2)
        zone = random.choice(["UTC", *ZONES])
        start, oracle = a_moment(random), Oracle(expr)
        end = start + a_span(oracle)
        try:
            trigger = Cron(expr, zone)
        except InvalidTrigger:
            # impossible, says the product: then no day of 28 years matches
            days = (date(2000, 1, 1) + timedelta(days=n) for n in range(10_227))
            assert not any(oracle.day(day) for day in days), expr
            continue
        found = fires(trigger, start, end)
        assert found == oracle.fires(ZoneInfo(zone), start, end), f"{expr} {zone} {start}"


@pytest.mark.parametrize("seed", range(100, 120))
def test_cronsim_finds_the_same_fires(seed):
    random = Random(seed)
    for _ in range(60):
        expr = make_expression(random, special=False)
        zone, start = random.choice(EVEN_ZONES), a_moment(random)
        end = start + a_span(Oracle(expr))
        try:
            expected = reference_fires(expr, ZoneInfo(zone), start, end)
        except CronSimError:
            with pytest.raises(InvalidTrigger):
                Cron(expr, zone)
            continue
        try:
            trigger = Cron(expr, zone)
        except InvalidTrigger:
            # cronsim takes what can never match, and gives up after fifty years
            assert reference_next(expr, ZoneInfo("UTC"), start) is None
            continue
        assert fires(trigger, start, end) == expected, f"{expr} {zone} {start}"


@pytest.mark.parametrize("seed", range(200, 210))
def test_cronsim_finds_the_same_next_however_far(seed):
    random = Random(seed)
    for _ in range(60):
        expr = make_expression(random, special=False, seconds=random.random() < 0.3)
        start = a_moment(random)
        try:
            expected = reference_next(expr, ZoneInfo("UTC"), start)
        except CronSimError:
            continue
        if expected is not None:
            assert Cron(expr).next(start) == expected, f"{expr} {start}"


@given(st.randoms(use_true_random=False), st.integers(172_800, 4_102_444_800))
@settings(max_examples=100)  # beside two thousand above
def test_any_expression_at_any_time(random, second):
    expr = make_expression(random, seconds=random.random() < 0.2)
    zone = random.choice(["UTC", *ZONES])
    start, oracle = to_datetime(second * 1000), Oracle(expr)
    try:
        trigger = Cron(expr, zone)
    except InvalidTrigger:
        return
    end = start + a_span(oracle)
    assert fires(trigger, start, end) == oracle.fires(ZoneInfo(zone), start, end)
