"""Arguments are what the annotations say, or the request is refused with the place and the word."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import pytest

from tickwell.errors import InvalidPayload
from tickwell.executors.handlers import Handler
from tickwell.executors.run import Run


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True)
class Line:
    article: str
    count: int = 1


@dataclass(frozen=True)
class Order:
    id: UUID
    lines: tuple[Line, ...]
    at: datetime | None = None

    def __post_init__(self):
        if not self.lines:
            raise ValueError("an order has lines")


ID = UUID("0197c0de-0000-7000-8000-000000000000")


def handler_for(annotation):
    def handler(value, **_):
        return value

    handler.__annotations__ = {"value": annotation}
    return Handler("h", handler)


@pytest.mark.parametrize(
    ("annotation", "given", "received"),
    [
        (int, 7, 7),
        (float, 7, 7.0),
        (str, "x", "x"),
        (bool, True, True),
        (Any, object, object),
        ("NotImportable", [1], [1]),
        (list[int], [1, 2], [1, 2]),
        (list, [1, "x"], [1, "x"]),
        (Sequence[str], ["a"], ["a"]),
        (set[int], [1, 1], {1}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2], (1, 2)),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Optional[int], None, None),  # noqa: UP045 - as older code writes it
        (int | str, "x", "x"),
        (int | None, 3, 3),
        (Literal["a", 1], 1, 1),
        (Annotated[int, "doc"], 5, 5),
        (Size, "small", Size.SMALL),
        (datetime, "2026-03-29T02:30:00+01:00", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
        (date, "2026-03-29", date(2026, 3, 29)),
        (timedelta, "1h30m", timedelta(minutes=90)),
        (UUID, str(ID), ID),
        (Line, {"article": "tea"}, Line("tea")),
        (
            Order,
            {"id": str(ID), "lines": [{"article": "tea", "count": 2}]},
            Order(ID, (Line("tea", 2),)),
        ),
    ],
)
def test_what_fits_arrives_as_annotated(annotation, given, received):
    assert handler_for(annotation).arguments({"value": given}) == {"value": received}


@pytest.mark.parametrize(
    ("annotation", "given", "place", "wanted"),
    [
        (int, "7", "payload.value", "a whole number"),
        (int, True, "payload.value", "a whole number"),
        (int, 7.0, "payload.value", "a whole number"),
        (float, "1", "payload.value", "a number"),
        (str, 7, "payload.value", "a text"),
        (bool, 1, "payload.value", "true or false"),
        (list[int], [1, "x"], r"payload.value\.1", "a whole number"),
        (dict[str, list[int]], {"a": [None]}, r"payload.value\.a\.0", "a whole number"),
        (tuple[int, str], [1], "payload.value", "a list of 2"),
        (int | None, "x", "payload.value", "a whole number or null"),
        (list[int] | None, ["x"], r"payload.value\.0", "a whole number"),
        (Literal["a", 1], True, "payload.value", "one of 'a', 1"),
        (Size, "medium", "payload.value", "one of 'small', 'large'"),
        (datetime, "yesterday", "payload.value", "a date and time"),
        (timedelta, "a while", "payload.value", "a duration"),
        (UUID, "x", "payload.value", "a UUID"),
        (Line, {"articel": "tea"}, "payload.value", "an object with article, count"),
        (Line, {}, "payload.value", "an object with article, count"),
        (Order, {"id": str(ID), "lines": []}, "payload.value", "an order has lines"),
        (
            Order,
            {"id": str(ID), "lines": [{"article": 5}]},
            r"payload\.value\.lines\.0\.article",
            "a text",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(annotation, given, place, wanted):
    with pytest.raises(InvalidPayload, match=rf"{place}: handler 'h' takes .*{wanted}"):
        handler_for(annotation).arguments({"value": given})


def test_arguments_go_through_json_and_come_back_the_same():
    def ship(order: Order, size: Size, after: timedelta, *, day: date) -> None: ...

    handler = Handler("ship", ship)
    order = Order(ID, (Line("tea"),), datetime(2026, 1, 1, tzinfo=UTC))
    payload = handler.payload(order, Size.LARGE, timedelta(hours=1), day=date(2026, 1, 2))
    assert payload == {
        "order": {
            "id": str(ID),
            "lines": [{"article": "tea", "count": 1}],
            "at": "2026-01-01T00:00:00+00:00",
        },
        "size": "large",
        "after": "1h",
        "day": "2026-01-02",
    }
    assert handler.arguments(payload) == {
        "order": order,
        "size": Size.LARGE,
        "after": timedelta(hours=1),
        "day": date(2026, 1, 2),
    }


def test_what_goes_into_others_is_checked_too():
    def tag(**labels: str) -> None: ...

    handler = Handler("tag", tag)
    assert handler.arguments({"color": "red"}) == {"color": "red"}
    with pytest.raises(InvalidPayload, match=r"payload\.color: handler 'tag' takes a text"):
        handler.arguments({"color": 5})


def test_the_message_names_the_handler_its_parameters_and_what_was_given():
    def mail(user_id: int) -> None: ...

    with pytest.raises(InvalidPayload) as caught:
        Handler("mail", mail).payload("seven")
    assert str(caught.value) == (
        "payload.user_id: handler 'mail' takes a whole number here, not 'seven'."
        " Its parameters are (user_id: int) -> None"
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"nme": 1}, "it takes no 'nme' and it needs 'name'"),
        ({}, "it needs 'name'"),
        ({"name": "Ada", "b": 1, "a": 2}, "it takes no 'b', 'a'"),
        ({"name": "Ada", "run": 1}, "it takes no 'run'"),
    ],
)
def test_names_that_do_not_fit_are_all_told(given, why):
    def greet(run: Run, name: str) -> None: ...

    with pytest.raises(InvalidPayload) as caught:
        Handler("greet", greet).arguments(given)
    assert caught.value.field == "payload"
    assert caught.value.reason == f"handler 'greet' cannot be called so: {why}"


def test_others_may_have_any_name_but_that_of_the_run():
    def tag(run: Run, color: str, **labels: object) -> None: ...

    handler = Handler("tag", tag)
    assert handler.arguments({"color": "red", "size": 5}) == {"color": "red", "size": 5}
    with pytest.raises(InvalidPayload, match="it takes no 'run' and it needs 'color'"):
        handler.arguments({"size": 5, "run": 1})
