"""The next fire times of a beat schedule, by Celery's own code and by the job made of it."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from celery.schedules import crontab, schedule
from hypothesis import given, settings
from hypothesis import strategies as st

from tickwell.celery_beat.entry import BeatEntry
from tickwell.celery_beat.schedules import celery_fires, trigger_of
from tickwell.clock import NEVER, to_millis
from tickwell.domain.cron.zone import changes

COUNT = 50
#: Milliseconds around a change of clocks within which the two may differ: docs/celery-beat.md.
NEAR = 3 * 3_600_000
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def field(low, high, names=()):
    """What `crontab()` takes for a field: numbers, lists, and texts of every form."""
    number = st.integers(low, high)
    term = st.one_of(
        number.map(str),
        st.tuples(number, number).map(lambda each: f"{each[0]}-{each[1]}"),
        st.tuples(number, number, st.integers(1, 7)).map(lambda e: f"{e[0]}-{e[1]}/{e[2]}"),
        st.integers(1, high).map(lambda step: f"*/{step}"),
        *([st.sampled_from(names)] if names else []),
    )
    return st.one_of(
        st.just("*"),
        number,
        st.sets(number, min_size=1, max_size=4),
        st.lists(term, min_size=1, max_size=3).map(",".join),
    )


@st.composite
def crontabs(draw):
    """Schedules that are due often enough for fifty fires not to take a century."""
    fields = {
        "minute": draw(field(0, 59)),
        "hour": draw(field(0, 23)),
        "day_of_week": draw(st.one_of(st.just("*"), field(0, 6, DAYS))),
    }
    if draw(st.booleans()):
        fields["day_of_month"] = draw(field(1, 28))
        fields["month_of_year"] = draw(st.one_of(st.just("*"), field(1, 12, ("jan", "september"))))
    return crontab(**fields)


moments = st.datetimes(datetime(2025, 1, 1), datetime(2028, 1, 1)).map(  # noqa: DTZ001
    lambda moment: to_millis(moment.replace(tzinfo=UTC))
)


def both(entry, after):
    trigger = trigger_of(entry)
    return celery_fires(entry, after, COUNT), list(islice(trigger.between(after, NEVER), COUNT))


@settings(max_examples=60)
@given(crontabs(), moments, st.sampled_from(["UTC", "Asia/Kolkata", "Asia/Tokyo"]))
def test_a_crontab_fires_when_celery_fires_it(found, after, tz):
    celery, ours = both(BeatEntry(name="x", task="t", schedule=found, tz=tz), after)
    assert celery == ours


@settings(max_examples=60)
@given(
    crontabs(),
    st.sampled_from(["Europe/Rome", "America/New_York", "Australia/Lord_Howe"]),
    st.integers(2025, 2027),
    st.sampled_from([3, 4, 10, 11]),
    st.integers(1, 28),
)
def test_where_clocks_change_only_the_hours_around_it_differ(found, tz, year, month, day):
    after = to_millis(datetime(year, month, day, tzinfo=UTC))
    celery, ours = both(BeatEntry(name="x", task="t", schedule=found, tz=tz), after)
    end = min(celery[-1], ours[-1])
    turns = [change.instant * 1000 for change in changes(tz, after // 1000, end // 1000 + 1)]
    differing = {fire for fire in set(celery) ^ set(ours) if fire <= end}
    assert all(any(abs(fire - turn) <= NEAR for turn in turns) for fire in differing)


@settings(max_examples=40)
@given(st.integers(1, 10_000_000), moments)
def test_an_interval_has_the_same_period_and_counts_from_the_epoch(seconds, after):
    celery, ours = both(BeatEntry(name="x", task="t", schedule=seconds), after)
    period = seconds * 1000
    assert celery == [after + period * number for number in range(1, COUNT + 1)]
    assert ours == [(after // period + number) * period for number in range(1, COUNT + 1)]


@settings(max_examples=20)
@given(st.sampled_from(["minutes", "hours", "days"]), moments)
def test_a_relative_interval_of_one_unit_fires_when_celery_fires_it(unit, after):
    found = schedule(timedelta(**{unit: 1}), relative=True)
    celery, ours = both(BeatEntry(name="x", task="t", schedule=found), after)
    assert celery == ours


@settings(max_examples=20)
@given(st.integers(2, 9), st.sampled_from(["minutes", "hours", "days"]), moments)
def test_a_longer_relative_interval_has_the_same_period(amount, unit, after):
    found = schedule(timedelta(**{unit: amount}), relative=True)
    celery, ours = both(BeatEntry(name="x", task="t", schedule=found), after)
    period = to_millis(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(**{unit: amount}))
    assert {b - a for a, b in pairwise(celery[1:])} == {period}
    assert {b - a for a, b in pairwise(ours)} == {period}


def test_start_and_end_bound_both_alike():
    start = datetime(2027, 1, 1, tzinfo=UTC)
    entry = BeatEntry(
        name="x",
        task="t",
        schedule=crontab(minute="*/15"),
        start=start,
        until=start + timedelta(minutes=50),
    )
    celery, ours = both(entry, to_millis(datetime(2026, 1, 1, tzinfo=UTC)))
    assert celery == ours == [to_millis(start) + 900_000 * number for number in range(4)]
