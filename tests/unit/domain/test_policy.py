"""Policies refuse what makes no sense, and say where."""

import pytest

from tickwell.domain.policy import (
    HOUR,
    SECOND,
    Backoff,
    Misfire,
    Retention,
    Retry,
    Timeout,
)
from tickwell.errors import InvalidJob


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        (Backoff.FIXED, [5, 5, 5, 5]),
        (Backoff.LINEAR, [5, 10, 15, 20]),
        (Backoff.EXPONENTIAL, [5, 15, 45, 60]),
    ],
)
def test_delays_grow_as_named_up_to_the_cap(backoff, delays):
    retry = Retry(backoff=backoff, delay="5s", factor=3, cap="1m", jitter=0)
    assert [retry.delay_after(n, "x") for n in range(1, 5)] == [d * SECOND for d in delays]


def test_the_jitter_belongs_to_the_execution():
    retry = Retry(delay="1h", cap="10h")
    assert retry.delay_after(1, "a") == retry.delay_after(1, "a")
    assert len({retry.delay_after(1, str(n)) for n in range(20)}) > 10


def test_a_steep_factor_reaches_the_cap_instead_of_overflowing():
    retry = Retry(factor=1e300, cap="1h", jitter=0, max_attempts=100)
    assert retry.delay_after(99, "x") == HOUR


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Retry(max_attempts=0), "retry.max_attempts"),
        (lambda: Retry(max_attempts=101), "retry.max_attempts"),
        (lambda: Retry(delay="-1ms"), "retry.delay"),
        (lambda: Retry(cap="-1ms"), "retry.cap"),
        (lambda: Retry(max_age="0s"), "retry"),
        (lambda: Retry(max_losses=0), "retry.max_losses"),
        (lambda: Retry(max_losses=101), "retry.max_losses"),
        (lambda: Retry(max_snoozes=-1), "retry.max_snoozes"),
        (lambda: Retry(max_snoozes=1001), "retry.max_snoozes"),
        (lambda: Retry(jitter=1.1), "retry.jitter"),
        (lambda: Retry(jitter=float("nan")), "retry.jitter"),
        (lambda: Retry(factor=0.5), "retry.factor"),
        (lambda: Retry(factor=float("nan")), "retry.factor"),
        (lambda: Retry(factor=float("inf")), "retry.factor"),
        (lambda: Misfire(grace="-1d23h59m59s999ms"), "misfire.grace"),
        (lambda: Misfire(catchup_window="-1d23h59m59s999ms"), "misfire.catchup_window"),
        (lambda: Misfire(cap=0), "misfire.cap"),
        (lambda: Misfire(cap=1001), "misfire.cap"),
        (lambda: Timeout(soft="0s"), "timeout"),
        (lambda: Timeout(soft="2ms", hard="1ms"), "timeout"),
        (lambda: Retention(age="-1d23h59m59s999ms"), "retention.age"),
        (lambda: Retention(count=-1), "retention.count"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(make, field):
    with pytest.raises(InvalidJob) as caught:
        make()
    assert caught.value.field == field
