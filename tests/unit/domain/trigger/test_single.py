"""Once, on demand, and several joined."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tickwell.clock import to_millis
from tickwell.domain.trigger import AnyOf, Calendar, Cron, Every, Once, OnDemand, Trigger, Window
from tickwell.domain.trigger.duration import Millis
from tickwell.errors import InvalidTrigger

AT = datetime(2026, 11, 15, 9, tzinfo=UTC)
DAY = 86_400_000


def test_once_fires_once():
    trigger = Once(AT)
    instant = to_millis(AT)
    assert trigger.after(instant - 1) == instant
    assert trigger.after(instant) is None
    assert trigger.next(AT - timedelta(days=1)) == AT
    assert list(trigger.between(0, instant)) == [instant]
    assert trigger.explain() == "once, at 2026-11-15 09:00 UTC"


def test_the_same_moment_is_the_same_trigger():
    tokyo = AT.astimezone(timezone(timedelta(hours=9)))
    assert Once(tokyo) == Once(AT)
    assert Once(AT + timedelta(microseconds=999)) == Once(AT)
    assert Once(tokyo).at.tzinfo is UTC


@pytest.mark.parametrize("at", [datetime(2026, 1, 1), "2026-01-01", None, 5])  # noqa: DTZ001
def test_a_moment_without_a_zone_is_refused(at):
    with pytest.raises(InvalidTrigger, match="once: "):
        Once(at)


def test_on_demand_never_fires():
    trigger = OnDemand(max_runs=3, until=AT)
    assert trigger.after(0) is None
    assert trigger.next(AT) is None
    assert list(trigger.between(0, 10**15)) == []
    assert list(trigger.excluded(0, 10**15)) == []
    assert OnDemand().explain() == "only on demand"


def test_a_union_fires_with_any_and_equal_instants_count_once():
    trigger = Every("2h") | Every("3h") | Once(datetime(1970, 1, 1, 1, tzinfo=UTC))
    hours = [instant // 3_600_000 for instant in trigger.between(0, DAY // 2)]
    assert hours == [1, 2, 3, 4, 6, 8, 9, 10, 12]


def test_a_union_of_unions_is_flat():
    one, two, three = Every("1h"), Every("2h"), Cron("* * * * *")
    assert (one | two) | three == one | (two | three) == AnyOf(one, two, three, one)
    confined = AnyOf(one, two, until=AT)
    assert AnyOf(confined, three).members == (confined, three)
    assert hash(one | two) == hash(AnyOf(one, two))


def test_a_union_has_confines_of_its_own():
    trigger = AnyOf(Every("1h"), Every("90m"), within=(Window("*", "09:00", "10:00"),))
    assert [instant / 3_600_000 for instant in trigger.between(0, DAY)] == [9]
    reasons = dict(trigger.excluded(0, 2 * 3_600_000))
    assert reasons == {3_600_000: "window", 5_400_000: "window", 7_200_000: "window"}


def test_what_one_member_leaves_out_another_may_fire():
    nine = Window("*", "09:00", "10:00")
    trigger = AnyOf(Every("1h", within=(nine,)), Every("2h"))
    left_out = [instant // 3_600_000 for instant, _ in trigger.excluded(0, 12 * 3_600_000)]
    assert left_out == [1, 3, 5, 7, 11]


@pytest.mark.parametrize(
    "members",
    [
        (),
        ("5m",),
        (Every("5m", after="finish"), Every("1h")),
        (Every("5m", max_runs=2), Every("1h")),
        (Every("5m", jitter="1s"), Every("1h")),
        tuple(Every(Millis(1000 + n)) for n in range(65)),
    ],
)
def test_what_cannot_be_joined_is_refused(members):
    with pytest.raises(InvalidTrigger, match="any_of: "):
        AnyOf(*members)


def test_joined_with_something_else():
    with pytest.raises(TypeError):
        Every("5m") | "1h"


def test_a_union_says_and_warns_for_all():
    trigger = Cron("30 2 * * *", "Europe/Berlin") | Every("1h")
    assert trigger.explain() == "at 02:30 every day, Europe/Berlin, or every hour"
    assert len(trigger.warnings()) == 2


@pytest.mark.parametrize(
    "trigger",
    [Cron("0 9 * * *"), Every("5m"), Once(AT), OnDemand(), Every("5m") | Once(AT)],
)
def test_all_are_values(trigger):
    assert isinstance(trigger, Trigger)
    assert {trigger: 1}[trigger] == 1
    assert not hasattr(trigger, "__dict__")
    assert not trigger.follows_finish
    with pytest.raises(AttributeError):
        trigger.max_runs = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"max_runs": 0}, "max_runs"),
        ({"max_runs": True}, "max_runs"),
        ({"max_runs": "3"}, "max_runs"),
        ({"jitter": "soon"}, "jitter"),
        ({"jitter": -1}, "jitter"),
        ({"start": datetime(2026, 1, 1)}, "start"),  # noqa: DTZ001
        ({"until": "2026-01-01"}, "until"),
        ({"start": AT, "until": AT - timedelta(1)}, "until"),
        ({"within": "mon-fri"}, "within"),
        ({"within": [Calendar("x", ["2026-01-01"])]}, "within"),
        ({"exclude": (Window("*"),)}, "exclude"),
        ({"within": (Window("mon"),) * 17}, "within"),
    ],
)
def test_confines_are_checked(given, field):
    for kind in (lambda **more: Cron("* * * * *", **more), lambda **more: Every("5m", **more)):
        with pytest.raises(InvalidTrigger) as caught:
            kind(**given)
        assert caught.value.field == field


def test_one_window_or_calendar_needs_no_tuple():
    window, days = Window("mon"), Calendar("x", ["2026-01-01"])
    trigger = Cron("* * * * *", within=window, exclude=days)  # type: ignore[arg-type]
    assert trigger.within == (window,)
    assert trigger.exclude == (days,)
    assert Cron("* * * * *", within=[window]) == Cron("* * * * *", within=(window,))


def test_jitter_is_kept_as_milliseconds():
    for jitter in ("30s", timedelta(seconds=30), "30000ms"):
        assert Cron("* * * * *", jitter=jitter).jitter == 30_000
