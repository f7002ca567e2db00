"""What a trigger may cost, counted: no document holds a process up."""

from contextlib import suppress
from typing import Any

import pytest

from tickwell.clock import NEVER
from tickwell.domain.trigger import AnyOf, Cron, Every, Trigger, Window, trigger_from_document, work
from tickwell.domain.trigger.duration import Millis
from tickwell.domain.trigger.limits import Limits
from tickwell.domain.trigger.work import READING, SEARCH, Spent, Work
from tickwell.errors import InvalidTrigger

#: 12:30 UTC is inside in summer only: half a year is leapt over day by day.
SUMMER = [{"from": "14:30", "to": "14:31", "tz": "Europe/Rome"}]
#: 18 November 2026, when the last summer is over.
AUTUMN = 1_795_000_000_000
DAY = 86_400_000


@pytest.fixture
def looks(monkeypatch) -> list[int]:
    """Grows by one for each look at windows and calendars."""
    monkeypatch.setattr(work, "_known", {})
    seen: list[int] = []
    allowed = Limits.allowed

    def count(self: Limits, instant: int, spent: Work) -> int | None:
        seen.append(instant)
        return allowed(self, instant, spent)

    monkeypatch.setattr(Limits, "allowed", count)
    return seen


def nested(levels: int) -> dict[str, Any]:
    document: dict[str, Any] = {"cron": "0 30 12 * * *", "within": SUMMER}
    for level in range(levels):
        other = {"cron": f"{level + 1} 30 12 * * *"}
        document = {"any_of": [document, other], "within": SUMMER}
    return document


def used(trigger: Trigger, since: int = AUTUMN) -> int:
    spent = Work()
    next(trigger.between(since, NEVER, spent), None)
    return spent.used


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_nesting_adds_to_the_cost_and_does_not_multiply_it(levels, looks):
    trigger = trigger_from_document(nested(levels))
    # 91 days from 1 January until summer time, for each level and what is in it
    assert len(looks) < 300 * (levels + 1) ** 2
    looks.clear()
    found = trigger.after(AUTUMN)
    assert found is not None
    assert (found - AUTUMN) // DAY == 130
    assert len(looks) < 131 * (levels + 1) ** 2
    looks.clear()
    assert len(list(trigger.between(AUTUMN, found + 30 * DAY))) > 30
    assert len(looks) < 170 * (levels + 1) ** 2


def test_what_was_tried_is_not_tried_again_but_counts(looks):
    trigger_from_document(nested(4))
    looks.clear()
    trigger_from_document(nested(4))
    assert looks == []


def test_a_search_ends_where_nothing_more_is_asked_for(looks):
    trigger = trigger_from_document(nested(3))
    looks.clear()
    assert list(trigger.between(AUTUMN, AUTUMN + 2 * DAY)) == []
    assert len(looks) < 60


def test_slots_are_told_without_a_search(looks):
    trigger = trigger_from_document(nested(4))
    looks.clear()
    assert len(list(trigger.slots(AUTUMN, AUTUMN + 30 * DAY))) == 30 * 5
    assert looks == []


def test_sixty_four_members_find_a_fire_half_a_year_ahead():
    within = [Window("*", "14:30", "14:31", "Europe/Rome")]
    members = [Cron(f"{n % 60} 30 12 * * {n // 60 or '*'}", within=within) for n in range(64)]
    trigger = AnyOf(*members)
    found = trigger.after(AUTUMN)
    assert found == members[0].after(AUTUMN)
    assert used(trigger) < SEARCH


def rare(number: int) -> dict[str, Any]:
    return {"every": f"7h{number}m1s", "within": [{"from": "03:00:00", "to": "03:00:02"}]}


@pytest.mark.parametrize(
    "document",
    [
        {"any_of": [rare(n) for n in range(1, 59)], "within": [{"days": "mon"}]},
        {"any_of": [{"any_of": [nested(2), rare(1)], "within": SUMMER}], "within": SUMMER},
        {"any_of": [{"cron": f"H H {n} * *", "within": SUMMER} for n in range(1, 29)]},
        {
            "any_of": [
                {"calendar_every": {"months": 1}, "anchor": f"2026-01-31T12:30:{n}"}
                for n in range(10, 60)
            ],
            "within": [{"from": "02:00", "to": "02:01", "tz": "Europe/Rome"}],
        },
        {"all_of": [{"every": f"{n}ms"} for n in (101, 103, 107, 109)]},
        {"all_of": [{"every": "101ms"}, {"every": "103ms"}, {"cron": "0 0 29 2 *"}]},
        {"any_of": [{"all_of": [rare(1), {"every": "1s"}], "within": SUMMER}, nested(2)]},
        {"cron": "0 12 * 2 1#5", "within": [{"from": "13:00", "to": "14:00"}]},
    ],
)
def test_whatever_is_given_little_is_done(document, looks):
    trigger: Trigger = Every("1h")
    with suppress(InvalidTrigger):
        trigger = trigger_from_document(document)
    assert len(looks) <= READING + 1
    for month in range(12):
        assert used(trigger, AUTUMN + month * 30 * DAY) <= SEARCH + 1000


def test_what_takes_too_long_to_search_is_refused_with_a_remedy():
    members = [{"cron": f"{n} 30 12 * * *", "within": SUMMER} for n in range(50)]
    document = {"any_of": members, "within": SUMMER}
    for _ in range(2):
        document = {"any_of": [document, {"cron": "1 30 12 * * *"}], "within": SUMMER}
    for _ in range(2):
        with pytest.raises(InvalidTrigger) as caught:
            trigger_from_document(document)
    assert "too long" in caught.value.reason
    assert caught.value.field == "any_of.0.within"
    assert "several jobs" in caught.value.hint


def test_members_are_counted_through_all_levels():
    def group(start: int) -> AnyOf:
        return AnyOf(*(Every(Millis(1000 + start + n)) for n in range(60)), within=[Window("mon")])

    with pytest.raises(InvalidTrigger, match="128 triggers in all"):
        AnyOf(group(0), group(60), group(120))
    assert AnyOf(group(0), group(60)).after(0) is not None


def test_far_too_many_members_are_not_even_read(monkeypatch):
    group = {"any_of": [{"every": "1h"}] * 60, "until": "2090-01-01T00:00:00Z"}
    made: list[int] = []
    monkeypatch.setattr(Every, "_check", lambda _: made.append(1))
    with pytest.raises(InvalidTrigger, match="far too many") as caught:
        trigger_from_document({"any_of": [group] * 60})
    assert caught.value.field == "any_of.7.any_of"
    assert len(made) < 512


def test_calendars_that_close_by_turns_are_leapt_over_at_once(looks):
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    document = {
        "cron": "0 12 1-28 * *",
        "exclude": [{"name": "even", "dates": days[::2]}, {"name": "odd", "dates": days[1::2]}],
    }
    trigger = trigger_from_document(document)
    looks.clear()
    assert trigger.after(1_767_225_600_000) == 1_798_804_800_000  # 1 January 2027, 12:00
    assert len(looks) < 20


def test_work_is_given_up_when_it_is_spent():
    spent = Work(10)
    spent.spend(10)
    with pytest.raises(Spent):
        spent.spend(1)
    assert spent.is_spent
    spent.renew()
    spent.spend(SEARCH)


def test_what_is_stored_is_taken_as_it_is():
    within = [{"from": "02:00", "to": "04:00"}]
    group = [{"cron": f"{minute} 3 * * *", "within": within} for minute in range(50)]
    document = {"any_of": [{"any_of": group, "until": f"209{n}-01-01T00:00:00Z"} for n in range(3)]}
    with pytest.raises(InvalidTrigger, match="128 triggers in all"):
        trigger_from_document(document)
    with work.tried_before():
        trigger = trigger_from_document(document)
    assert trigger.after(0) == 3 * 3_600_000


def test_whether_a_job_can_be_saved_does_not_depend_on_its_name():
    within = Window(opens="02:00", closes="04:00")
    days = (Cron(f"H H {day} * *", tz="Europe/Rome", within=[within]) for day in (1, 15))
    trigger = AnyOf(*days)
    for number in range(60):
        assert trigger.bound(f"default/report-{number}").after(0) is not None
