"""Expressions of Quartz, EventBridge and Celery fire at the minutes that brute force finds."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from tickwell import Cron
from tickwell.domain.trigger.document import trigger_from_document, trigger_to_document

NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
BEGIN = datetime(2027, 12, 25, 20, tzinfo=UTC)
#: Hours that are looked at one by one: seven weeks and a new year.
HOURS = 24 * 49


@st.composite
def terms(draw, /, low, high, *, names=(), stepped=True):
    """A term with the values that it stands for, by the rules of Quartz and Celery."""
    size = high - low + 1
    kind = draw(st.sampled_from(["one", "range", "every", "steps"]))
    if kind == "one":
        value = draw(st.integers(low, high))
        text = names[value - low] if names and draw(st.booleans()) else str(value)
        return text, {value}
    step = draw(st.integers(1, size)) if kind == "steps" or draw(st.booleans()) else 1
    suffix = f"/{step}" if step > 1 else ""
    if kind == "every":
        return f"*{suffix}", set(range(low, high + 1, step))
    first = draw(st.integers(low, high))
    if kind == "steps" and stepped:
        return f"{first}/{step}", set(range(first, high + 1, step))
    last = draw(st.integers(low, high).filter(lambda last: last != first))
    values = [low + (first - low + n) % size for n in range((last - first) % size + 1)]
    named = bool(names) and draw(st.booleans())
    texts = [names[each - low] if named else str(each) for each in (first, last)]
    return f"{texts[0]}-{texts[1]}{suffix}", set(values[::step])


@st.composite
def fields(draw, /, low, high, **more):
    found = draw(st.lists(terms(low, high, **more), min_size=1, max_size=2))
    return ",".join(text for text, _ in found), set().union(*(values for _, values in found))


def fires(trigger):
    begin, end = int(BEGIN.timestamp()) * 1000, HOURS * 3_600_000
    return [datetime.fromtimestamp(at / 1000, UTC) for at in trigger.between(begin, begin + end)]


def brute(matches):
    hours = (BEGIN + timedelta(hours=n) for n in range(1, HOURS + 1))
    return [hour for hour in hours if matches(hour)]


def weekday(moment):
    """Sunday is 0."""
    return moment.isoweekday() % 7


quartz_weekdays = fields(1, 7, names=NAMES)
years = st.sampled_from([("*", None), ("2027", {2027}), ("2028-2030", {2028, 2029, 2030})])


@given(fields(0, 23), quartz_weekdays, years, st.sampled_from(["quartz", "aws"]))
def test_weekdays_count_from_sunday_as_1(hours, weekdays, years, dialect):
    expr = f"0 {hours[0]} ? * {weekdays[0]} {years[0]}"
    trigger = Cron(f"0 {expr}" if dialect == "quartz" else expr, dialect=dialect)
    assert fires(trigger) == brute(
        lambda moment: (
            moment.hour in hours[1]
            and weekday(moment) + 1 in weekdays[1]
            and (years[1] is None or moment.year in years[1])
        )
    )


@given(fields(0, 23), fields(1, 31), fields(1, 12), st.sampled_from(["quartz", "aws"]))
def test_days_of_the_month(hours, days, months, dialect):
    months[1].update({1, 12})  # those that are looked at
    expr = f"0 {hours[0]} {days[0]} {months[0]},12,1 ? *"
    trigger = Cron(f"0 {expr}" if dialect == "quartz" else expr, dialect=dialect)
    assert fires(trigger) == brute(
        lambda moment: (
            moment.hour in hours[1] and moment.day in days[1] and moment.month in months[1]
        )
    )


plain = {"stepped": False}


@given(fields(0, 23, **plain), fields(1, 31, **plain), fields(0, 6, names=NAMES, **plain))
def test_celery_needs_both_days(hours, days, weekdays):
    trigger = Cron(f"0 {hours[0]} {days[0]} * {weekdays[0]}", dialect="celery")
    assert fires(trigger) == brute(
        lambda moment: (
            moment.hour in hours[1] and moment.day in days[1] and weekday(moment) in weekdays[1]
        )
    )


@given(fields(0, 23), quartz_weekdays)
def test_a_document_reads_back(hours, weekdays):
    trigger = Cron(f"0 {hours[0]} ? * {weekdays[0]} *", dialect="aws")
    document = trigger_to_document(trigger)
    assert document["dialect"] == "aws"
    assert trigger_from_document(document) == trigger


@given(
    st.sampled_from(["0 0 9 * * mon", "30 */7 * 1,31 * *", "0 30 2 * * *", "15 H H L * *"]),
    st.sampled_from(["2027", "2028", "2026,2028", "2027/2", "2026-2028/2", "*", "2029-2030"]),
    st.sampled_from(["UTC", "Pacific/Auckland", "America/New_York"]),
)
def test_a_year_keeps_the_fires_that_fall_into_it(expr, years, zone):
    named = {
        "2027": {2027},
        "2028": {2028},
        "2026,2028": {2026, 2028},
        "2027/2": {2027},
        "2026-2028/2": {2026, 2028},
        "*": {2027, 2028},
        "2029-2030": set[int](),
    }[years]
    every, kept = Cron(expr, zone).bound("x"), Cron(f"{expr} {years}", zone).bound("x")
    expected = [at for at in fires(every) if at.astimezone(ZoneInfo(zone)).year in named]
    assert fires(kept) == expected
    assert trigger_from_document(trigger_to_document(kept)) == kept
