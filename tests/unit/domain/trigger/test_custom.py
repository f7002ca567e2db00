"""Triggers of applications: registered by name, tried when made, kept as documents."""

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest

from tickwell import Calendar, CustomTrigger, Every, Window
from tickwell.clock import to_millis
from tickwell.domain.trigger import trigger_from_document, trigger_to_document
from tickwell.domain.trigger.work import tried_before
from tickwell.errors import InvalidTrigger

DAY = timedelta(days=1)


class Full(CustomTrigger, name="test.full"):
    """Every 29 and a half days."""

    hours: int = 0
    phases: tuple[str, ...] = ("full",)

    def next_fire(self, after: datetime) -> datetime | None:
        first = datetime(2000, 1, 6, 18, 14, tzinfo=UTC) + timedelta(hours=self.hours)
        months = (after - first) // timedelta(days=29.5) + 1
        return first + months * timedelta(days=29.5)

    def check(self) -> None:
        if self.hours > 99:
            raise ValueError("the hours must be 99 or less")


class Broken(CustomTrigger, name="test.broken"):
    how: str
    asked: ClassVar[int] = 0

    def next_fire(self, after: datetime) -> datetime | None:
        Broken.asked += 1
        if self.how == "fails":
            raise KeyError("moon")
        answers: dict[str, Any] = {
            "past": after - DAY,
            "same": after,
            "naive": after.replace(tzinfo=None) + DAY,
            "never": None,
            "moody": after + timedelta(seconds=Broken.asked),
            "relative": after + DAY,
            "number": 5,
        }
        found: datetime | None = answers[self.how]
        return found


def test_it_takes_the_options_of_every_trigger():
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    bare = Full()
    first = bare.next(begin)
    assert first is not None
    assert Full(exclude=(Calendar("x", [first.date()]),)).next(begin) == bare.next(first)
    assert Full(start=first + DAY).next(begin) == bare.next(first)
    assert Full(until=first).next(first) is None
    assert (Full() | Every("1h")).next(first) == first + timedelta(minutes=46)
    night = Full(within=(Window("*", "00:00", "12:00"),))
    found = night.next(begin)
    assert found is not None
    assert found.hour < 12


def test_a_document_has_its_name_and_arguments():
    document = {
        "custom": {"name": "test.full", "args": {"hours": 3, "phases": ["new", "full"]}},
        "jitter": "5s",
    }
    trigger = trigger_from_document(document)
    assert trigger == Full(hours=3, phases=("new", "full"), jitter="5s")
    assert trigger_to_document(trigger) == document
    assert trigger_to_document(Full()) == {"custom": {"name": "test.full"}}
    assert trigger.explain().startswith("test.full (hours 3, phases ['new', 'full']); each up to")
    assert len({trigger, trigger_from_document(document)}) == 1


@pytest.mark.parametrize(
    ("document", "field", "reason"),
    [
        ({"custom": {"name": "no.such"}}, "custom.name", "knows no trigger 'no.such'"),
        ({"custom": {"args": {}}}, "custom.name", "knows no trigger ''"),
        ({"custom": {"name": "test.full", "args": {"days": 1}}}, "custom.args.days", "unknown"),
        ({"custom": {"name": "test.full", "args": {"start": 1}}}, "custom.args.start", "unknown"),
        ({"custom": {"name": "test.full", "args": {"hours": {}}}}, "custom.args.hours", "list"),
        ({"custom": {"name": "test.full", "args": {"hours": 100}}}, "custom.args", "99 or less"),
        ({"custom": {"name": "test.full", "args": {"hours": "x"}}}, "custom.args", "supported"),
        ({"custom": {"name": "test.full", "args": []}}, "custom.args", "must be an object"),
        ({"custom": {"name": "test.full", "more": 1}}, "custom.more", "unknown field"),
        ({"custom": {"name": "test.broken"}}, "custom.args", "how"),
        ({"custom": "test.full"}, "custom", "must be an object"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(document, field, reason):
    with pytest.raises(InvalidTrigger) as caught:
        trigger_from_document(document)
    assert caught.value.field == field
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("past", "which is not later than"),
        ("same", "which is not later than"),
        ("naive", "not a datetime with a time zone"),
        ("number", "not a datetime with a time zone"),
        ("never", "never fires from 2024 on"),
        ("fails", "failed: KeyError: 'moon'"),
        ("moody", "different answers"),
        ("relative", "different answers"),
    ],
)
def test_one_that_breaks_the_laws_is_refused_when_it_is_made(how, reason):
    with pytest.raises(InvalidTrigger, match=reason) as caught:
        Broken(how=how)
    assert caught.value.hint


class Fine(CustomTrigger, name="test.fine"):
    """Every 1.2345 seconds: an instant of Tickwell's is a millisecond."""

    def next_fire(self, after: datetime) -> datetime | None:
        first, period = datetime(2000, 1, 1, tzinfo=UTC), timedelta(microseconds=1_234_500)
        return first + ((after - first) // period + 1) * period


def test_one_that_is_finer_than_a_millisecond_goes_on():
    begin = datetime(2000, 1, 1, tzinfo=UTC)
    found, at = [], begin
    for _ in range(4):
        at = Fine().next(at) or begin
        found.append((at - begin) // timedelta(milliseconds=1))
    assert found == [1235, 2469, 3704, 4938]
    assert list(Fine().between(to_millis(begin), to_millis(at))) == [
        to_millis(begin) + each for each in found
    ]


def test_what_is_stored_is_not_tried():
    with tried_before():
        trigger = trigger_from_document(
            {"custom": {"name": "test.broken", "args": {"how": "past"}}}
        )
    with pytest.raises(InvalidTrigger, match="not later than"):
        trigger.after(0)


def test_a_name_belongs_to_one_class():
    def define() -> type[CustomTrigger]:
        class Again(Full, name="test.again"):
            pass

        return Again

    define()  # a module that is loaded anew defines its classes anew
    latest = define()
    assert isinstance(trigger_from_document({"custom": {"name": "test.again"}}), latest)
    with pytest.raises(InvalidTrigger, match=r"is defined in .* already"):

        class Other(Full, name="test.full"):
            pass

    with pytest.raises(InvalidTrigger, match="cannot be the name"):

        class Blank(Full, name=" "):
            pass

    class Nameless(Full):
        registered_as = ""

    with pytest.raises(InvalidTrigger, match="has no name"):
        Nameless()


def test_its_density_is_that_of_its_first_fires():
    assert Full().busiest() == (1, 1)
