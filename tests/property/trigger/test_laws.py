"""What holds for every trigger."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tickwell.clock import NEVER, to_millis
from tickwell.domain.trigger import (
    AllOf,
    AnyOf,
    BusinessDays,
    Calendar,
    CalendarEvery,
    Cron,
    CustomTrigger,
    Every,
    Once,
    OnDemand,
    RRule,
    Trigger,
    Window,
    format_duration,
    parse_duration,
    trigger_from_document,
    trigger_to_document,
)
from tickwell.domain.trigger.duration import Millis
from tickwell.errors import InvalidTrigger

zones = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"])
moments = st.integers(0, 4_000_000_000_000).map(
    lambda millis: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
)
windows = st.builds(
    Window,
    st.sampled_from(["*", "mon-fri", "sat,sun", "tue"]),
    st.sampled_from(["00:00", "09:00", "22:30"]),
    st.sampled_from(["06:00", "17:00", "24:00"]),
    st.none() | zones,
)
calendars = st.builds(
    Calendar,
    st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10),
    st.lists(st.dates(date(2020, 1, 1), date(2040, 1, 1)), min_size=1, max_size=5),
    tz=st.none() | zones,
)
confines: dict[str, Any] = {
    "start": st.none() | moments,
    "within": st.lists(windows, max_size=2).map(tuple),
    "exclude": st.lists(calendars, max_size=2).map(tuple),
}
counted: dict[str, Any] = confines | {
    "max_runs": st.none() | st.integers(1, 10**6),
    "jitter": st.integers(0, 10**7),
}


class Moon(CustomTrigger, name="test.moon"):
    """Every so many hours, and a half."""

    hours: int

    def next_fire(self, after: datetime) -> datetime | None:
        first, period = datetime(2000, 1, 6, 18, 14, tzinfo=UTC), timedelta(hours=self.hours + 0.5)
        found = first + ((after - first) // period + 1) * period
        return found if found.year < 9000 else None


business = st.none() | st.builds(
    BusinessDays,
    st.sampled_from(["next", "previous"]),
    st.lists(
        st.builds(
            Calendar,
            st.just("h"),
            st.lists(st.dates(date(2020, 1, 1), date(2040, 1, 1)), min_size=1, max_size=5),
        ),
        max_size=2,
    ).map(tuple),
    st.sampled_from(["sat,sun", "fri,sat", "sun", ""]),
)
crons = st.sampled_from(["*/5 * * * *", "0 9 * * mon-fri", "H H * * *", "30 2 L * *", "@daily"])
periods = st.integers(100, 10**10)


def simple(fields: dict[str, Any]) -> st.SearchStrategy[Trigger]:
    return st.one_of(
        st.builds(
            Cron,
            crons,
            zones,
            dst_gap=st.sampled_from(["shift", "skip"]),
            dst_fold=st.sampled_from(["first", "last", "both"]),
            business_days=business,
            **fields,
        ),
        st.builds(Every, periods, **fields),
        st.builds(
            CalendarEvery,
            months=st.integers(0, 30),
            days=st.integers(1, 50),
            anchor=moments.map(lambda moment: moment.replace(microsecond=0)),
            tz=zones,
            business_days=business,
            **fields,
        ),
        st.builds(
            RRule,
            rrule=st.sampled_from(
                ["FREQ=WEEKLY;BYDAY=MO,WE", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=40", "FREQ=HOURLY"]
            ),
            dtstart=moments.map(lambda moment: moment.replace(microsecond=0)),
            tz=zones,
            dst_gap=st.sampled_from(["shift", "skip"]),
            business_days=business,
            **fields,
        ),
        st.builds(Moon, hours=st.integers(1, 2000), **fields),
        st.builds(Once, moments),
        st.builds(OnDemand),
    )


triggers = st.one_of(
    simple(counted),
    st.builds(Every, periods, after=st.just("finish"), **counted),
    st.builds(lambda members: AnyOf(*members), st.lists(simple(confines), min_size=1, max_size=3)),
    st.builds(lambda members: AllOf(*members), st.lists(simple(confines), min_size=1, max_size=2)),
    st.builds(
        lambda often, seldom, fields: AllOf(Every(often * 60_000), seldom, **fields),
        st.integers(1, 240).map(Millis),
        st.builds(Cron, st.sampled_from(["0 * * * *", "0 0 * * *", "0 12 * * mon"]), zones),
        st.fixed_dictionaries(counted),
    ),
)


@st.composite
def valid(draw: st.DrawFn) -> Trigger:
    """A trigger that is not refused for never firing."""
    try:
        return draw(triggers)
    except InvalidTrigger:
        return Every("1h")


@given(valid())
def test_a_document_gives_back_the_same_trigger(trigger):
    document = trigger_to_document(trigger)
    again = trigger_from_document(document)
    assert again == trigger
    assert hash(again) == hash(trigger)
    assert trigger_to_document(again) == document


@given(valid(), st.integers(-(10**12), 4_000_000_000_000))
def test_after_is_strictly_later_and_repeatable(trigger, instant):
    found = trigger.after(instant)
    assert found == trigger.after(instant)
    assert found is None or instant < found <= NEVER
    if found is not None and not trigger.follows_finish:
        assert trigger.after(found - 1) == found


@given(valid(), st.integers(-(10**12), NEVER), st.integers(0, 10**11))
def test_fires_between_are_those_found_one_by_one(trigger, start, length):
    """Some triggers only count; none may find others by it."""
    stepped = Trigger.between(trigger, start, start + length)
    assert [*islice(trigger.between(start, start + length), 50)] == [*islice(stepped, 50)]


@given(valid(), st.integers(0, 4_000_000_000_000), st.integers(0, 3 * 86_400_000))
@settings(max_examples=50)
def test_fires_and_what_is_left_out_are_apart(trigger, start, length):
    length = min(length, 3_600_000) if isinstance(trigger, Every) else length
    fired = set()
    for count, instant in enumerate(trigger.between(start, start + length)):
        assert start < instant <= start + length
        fired.add(instant)
        if count > 500:
            return
    for count, (instant, _) in enumerate(trigger.excluded(start, start + length)):
        assert instant not in fired
        if count > 500:
            return


@given(valid())
def test_every_trigger_can_be_said(trigger):
    assert trigger.explain()
    assert all(isinstance(warning, str) for warning in trigger.warnings())
    assert trigger.bound("x").bound("x") == trigger.bound("x")


@given(periods, st.integers(0, 10**13), st.data())
def test_an_interval_keeps_its_grid(period, instant, data):
    phase = data.draw(st.integers(0, period - 1))
    found = Every(Millis(period), phase=Millis(phase)).after(instant)
    assert found is not None
    assert 0 < found - instant <= period
    assert (found - phase) % period == 0


@given(st.integers(0, 36_525 * 86_400_000))
def test_a_duration_is_read_as_it_was_written(millis):
    assert parse_duration(format_duration(millis)) == millis


@given(st.dates(date(1990, 1, 1), date(2050, 1, 1)), st.integers(1, 30), st.integers(0, 40))
def test_months_are_added_as_a_calendar_does(day, months, count):
    anchor = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
    total = anchor.year * 12 + anchor.month - 1 + months * count
    year, month = divmod(total, 12)
    expected = None
    for last in (anchor.day, 30, 29, 28):
        try:
            expected = anchor.replace(year=year, month=month + 1, day=min(last, anchor.day))
            break
        except ValueError:
            continue
    assert expected
    trigger = CalendarEvery(months=months, anchor=anchor)
    assert trigger.after(to_millis(expected) - 1) == to_millis(expected)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(
    [
        *("cron", "every", "calendar_every", "once", "on_demand", "any_of", "all_of", "when"),
        *(
            "tz",
            "start",
            "until",
            "max_runs",
            "within",
            "exclude",
            "jitter",
            "after",
            "phase",
            "anchor",
        ),
    ]
)


@given(json_values | st.dictionaries(names, json_values | crons | st.just("5m"), max_size=4))
@settings(max_examples=300)
def test_any_document_is_read_or_refused(document):
    try:
        trigger = trigger_from_document(document)
    except InvalidTrigger:
        return
    assert trigger_from_document(trigger_to_document(trigger)) == trigger
