"""Arguments are what the annotations say, or the request is refused with the place and the word."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict
from uuid import UUID

import pydantic
import pytest

from tickwell.domain.payload import checked
from tickwell.errors import InvalidJob, InvalidPayload
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


class Level(IntEnum):
    LOW = 1


class Right(Flag):
    READ = 1
    WRITE = 2


class Unit(Enum):
    METRE = "m"

    @classmethod
    def _missing_(cls, value):
        return cls.METRE if value == "meter" else None


class Point(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)
    depth: int = field(init=False, default=0)


class Box(pydantic.BaseModel):
    width: Annotated[int, pydantic.Field(gt=0)]
    label: str = pydantic.Field("", alias="name")


Money = NewType("Money", Decimal)


class Session:
    """No JSON fills it."""


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
        (time, "09:30:00", time(9, 30)),
        (timedelta, "-0.000001s", timedelta(microseconds=-1)),
        (Decimal, "9.99", Decimal("9.99")),
        (Money, "9.99", Decimal("9.99")),
        (Path, "/tmp/x", Path("/tmp/x")),
        (Level, 1, Level.LOW),
        (Right, 3, Right.READ | Right.WRITE),
        (Unit, "meter", Unit.METRE),
        (Literal[Size.SMALL], "small", Size.SMALL),
        (Point, {"x": 1}, Point(1)),
        (Point, [1, 2], Point(1, 2)),
        (Movie, {"title": "M"}, {"title": "M"}),
        (Tree, {"name": "a", "children": [{"name": "b"}]}, Tree("a", [Tree("b")])),
        (Tree, {"name": "a", "depth": 5}, Tree("a")),
        (Box, {"width": 3, "name": "x"}, Box(width=3, name="x")),
        (list[Box], [{"width": "3"}], [Box(width=3, name="")]),
        (Box | None, None, None),
        (Annotated[int, pydantic.Field(gt=0)], 5, 5),
        (dict[int, date], {"1": "2026-01-02"}, {1: date(2026, 1, 2)}),
        (dict[Level, int], {"1": 2}, {Level.LOW: 2}),
        (str | date, "2026-01-02", date(2026, 1, 2)),
        (datetime | date, "2026-01-02", date(2026, 1, 2)),
        (float | int, 1, 1),
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
        (time, "soon", "payload.value", "a time as"),
        (Level, True, "payload.value", "one of 1"),
        (Right, 8, "payload.value", "one of 1, 2"),
        (Movie, {"titel": "M"}, "payload.value", "an object with title, year"),
        (Movie, {"title": 5}, "payload.value.title", "a text"),
        (Point, [1, 2, 3], "payload.value", "an object with x, y"),
        (Tree, {"name": "a", "children": [{}]}, r"payload.value.children.0", "an object with"),
        (Box, {"width": 0}, r"payload.value.width", "a Box .*greater than 0"),
        (list[Box], [{"width": 1}, 5], r"payload.value\.1", "a Box"),
        (Annotated[int, pydantic.Field(gt=0)], 0, "payload.value", "a whole number .*greater"),
        (Annotated[int, pydantic.Field(gt=0)], "5", "payload.value", "a whole number"),
        (dict[int, int], {"x": 1}, r"payload.value\.x", "a whole number as a key"),
        (dict[int, int], {"01": 1}, r"payload.value\.01", "a whole number as a key"),
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


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (Session, "takes Session as 'value', which no payload can hold. Mark what"),
        (list[Session], "takes Session as 'value'"),
        (Session | None, "takes Session as 'value'"),
        (bytes, "takes bytes as 'value', which no payload can hold. Pass it as a text, in base64"),
        (Callable[[], int], "which no payload can hold"),
        (type[Session], "which no payload can hold"),
        (dict[Session, int], "takes Session as 'value'"),
        (dict[float, int], r"takes dict\[float, …\] as 'value'.* Keys are texts"),
    ],
)
def test_what_no_payload_can_hold_is_refused_at_the_decorator(annotation, words):
    with pytest.raises(InvalidJob, match=words):
        handler_for(annotation)


def test_a_record_with_such_a_field_is_refused_and_the_field_named():
    @dataclass
    class Job:
        session: Session

    @dataclass
    class Cached:
        name: str
        session: Session | None = None

    with pytest.raises(InvalidJob, match=r"takes Job as 'value'.* Its field 'session' is no JSON"):
        handler_for(Job)
    cached = handler_for(Cached).arguments({"value": {"name": "x"}})["value"]
    assert cached == Cached("x")


def test_a_model_that_json_would_lose_something_of_is_refused():
    class Login(pydantic.BaseModel):
        user: str
        password: pydantic.SecretStr

    def work(login: Login, others: list[Login]) -> None: ...

    login = Login(user="ada", password=pydantic.SecretStr("x"))
    with pytest.raises(InvalidPayload, match=r"payload\.login: does not come back from JSON as it"):
        Handler("work", work).payload(login, [])
    with pytest.raises(
        InvalidPayload, match=r"payload\.others: does not come back from JSON as it"
    ):
        Handler("work", work).payload(
            Login(user="ada", password=pydantic.SecretStr("*" * 10)), [login]
        )


def test_pydantic_is_not_needed(tmp_path):
    """Without it nothing else changes: marks that only it knows are documentation."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "sys.modules['pydantic'] = None\n"
        "from dataclasses import dataclass\n"
        "from typing import Annotated\n"
        "from annotated_types import Gt\n"
        "from tickwell.executors.handlers import Handler\n"
        "@dataclass\n"
        "class Line:\n"
        "    count: Annotated[int, Gt(0)]\n"
        "def work(line: Line): ...\n"
        "handler = Handler('work', work)\n"
        "print(handler.arguments(handler.payload(Line(0))))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{'line': Line(count=0)}\n", "")


@dataclass
class Leaning:
    child: "Leaning | Upright | None" = None
    weight: int = 0


@dataclass
class Upright:
    child: "Leaning | Upright | None" = None
    weight: str = ""


def nested(depth: int, leaf: object, **more: object) -> object:
    for _ in range(depth):
        leaf = {"child": leaf, **more}
    return leaf


@pytest.mark.parametrize("weight", ["heavy", 1.5], ids=["the second fits", "neither fits"])
def test_each_level_of_records_in_unions_is_read_once_for_each_of_them(weight):
    def weigh(tree: Leaning | Upright) -> None: ...

    handler, calls = Handler("weigh", weigh), 0

    def count(frame, event, _argument):
        nonlocal calls
        calls += event == "call" and frame.f_code.co_name == "_made"

    sys.setprofile(count)
    try:
        handler.arguments({"tree": nested(30, None, weight=weight)})
    except InvalidPayload:
        assert weight == 1.5
    else:
        assert weight == "heavy"
    finally:
        sys.setprofile(None)
    assert calls <= 2 * 31


class Picky(Enum):
    ONE = "one"

    @classmethod
    def _missing_(cls, value):
        raise KeyError(value)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@dataclass
class Unlucky:
    at: int

    def __post_init__(self):
        raise Mute


class Odd(pydantic.BaseModel):
    at: int

    @pydantic.field_validator("at")
    @classmethod
    def look_up(cls, value):
        return {}[value]


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (float, 10**400, "takes a number here"),
        (Annotated[float, pydantic.Field(gt=0)], 10**400, "takes a number here"),
        (str, 10**5000, "takes a text here, not <int>"),
        (Picky, "two", "cannot read 'two': KeyError: 'two'"),
        (Odd, {"at": 1}, "cannot read {'at': 1}: KeyError: 1"),
        (Unlucky, {"at": 1}, r"takes a Unlucky \(Mute\) here"),
        (dict[Decimal, int], {"sNaN": 1}, "cannot read {'sNaN': 1}: TypeError"),
        (Leaning, nested(900, None), "RecursionError"),
    ],
    ids=lambda each: "" if isinstance(each, int) else None,
)
def test_whatever_a_type_raises_the_payload_is_refused(kind, value, why):
    def take(given: Any) -> None: ...

    take.__annotations__["given"] = kind
    with pytest.raises(InvalidPayload, match=why):
        Handler("take", take).arguments({"given": value})


def test_a_result_that_its_type_fails_to_read_stays_json():
    def make() -> Picky:
        raise NotImplementedError

    assert Handler("make", make).result("two") == "two"


@pytest.mark.parametrize("value", [nested(900, None), {"by": {(1, 2): 3}}], ids=["deep", "key"])
def test_arguments_that_no_json_holds_are_left_to_the_check_of_payloads(value):
    def take(given: Any) -> None: ...

    payload = Handler("take", take).payload(value)
    with pytest.raises(InvalidPayload, match=r"nested more than 100 deep|is not a text"):
        checked(payload)
