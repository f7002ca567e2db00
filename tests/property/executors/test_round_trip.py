"""Whatever its annotation: a value goes through JSON and comes back the same."""

import json
from collections import deque
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, TypedDict
from uuid import UUID

import pydantic
from hypothesis import given
from hypothesis import strategies as st

from tickwell.domain.payload import checked
from tickwell.executors.handlers import Handler
from tickwell.executors.jsonable import jsonable
from tickwell.executors.results import stored
from tickwell.executors.typed import Reader, reader_of


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Corner(Enum):
    HERE = (1, "a")
    THERE = (2, "b")
    TRUE = True


class Right(Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: float = 0.5


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


@dataclass(frozen=True)
class Line:
    article: str
    price: Decimal
    count: int = 1
    total: Decimal = field(init=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "total", self.price)


@dataclass(frozen=True)
class Tree:
    name: str
    children: tuple["Tree", ...] = ()


class Order(pydantic.BaseModel):
    id: UUID
    at: datetime
    lines: list[tuple[str, Decimal]] = []
    place: Path = pydantic.Field(alias="where")
    wait: timedelta


Money = NewType("Money", Decimal)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
ZONES = st.none() | st.builds(timezone, st.timedeltas(timedelta(hours=-14), timedelta(hours=14)))
AMOUNTS = st.decimals(allow_nan=False, places=2, min_value=-(10**9), max_value=10**9)
PATHS = st.builds(Path, st.text("abc/. ", min_size=1, max_size=9))
LINES = st.builds(Line, TEXT, AMOUNTS, WHOLE)
TREES = st.recursive(st.builds(Tree, TEXT), lambda inner: st.builds(Tree, TEXT, st.tuples(inner)))
MOVIES = st.fixed_dictionaries({"title": TEXT}, optional={"year": WHOLE})
ORDERS = st.builds(
    Order,
    id=st.uuids(),
    at=st.datetimes(timezones=st.just(UTC)),
    lines=st.lists(st.tuples(TEXT, AMOUNTS), max_size=3),
    where=PATHS,
    wait=st.timedeltas(timedelta(days=-9), timedelta(days=9)),
)

#: What can be a key of an object, too.
KEYS = [
    (str, TEXT),
    (int, WHOLE),
    (date, st.dates()),
    (time, st.times()),
    (datetime, st.datetimes(timezones=ZONES)),
    (timedelta, st.timedeltas()),
    (UUID, st.uuids()),
    (Decimal, AMOUNTS),
    (Path, PATHS),
    (PurePosixPath, st.builds(PurePosixPath, PATHS)),
    (Size, st.sampled_from(Size)),
    (Level, st.sampled_from(Level)),
    (Literal["a", 1], st.sampled_from(["a", 1])),
    (Money, AMOUNTS.map(Money)),
    (Annotated[str, "words"], TEXT),
    (Annotated[int, pydantic.Field(ge=0)], st.integers(0, 2**63 - 1)),
]
PLAIN = [
    *KEYS,
    (bool, st.booleans()),
    (float, NUMBER),
    (None, st.none()),
    (Corner, st.sampled_from(Corner)),
    (Right, st.sampled_from([Right.READ, Right.WRITE, Right.READ | Right.WRITE])),
    (Point, st.builds(Point, WHOLE, NUMBER)),
    (Movie, MOVIES),
    (Line, LINES),
    (Tree, TREES),
    (Order, ORDERS),
    (int | str, WHOLE | TEXT),
    (float | int, WHOLE | NUMBER),
    (bool | int, st.booleans() | WHOLE),
    (Line | Order | None, LINES | ORDERS | st.none()),
]
IMMUTABLE = [
    (kind, values) for kind, values in PLAIN if kind not in (Movie, Order, Line | Order | None)
]


def annotated():
    """An annotation with values of it."""
    return st.recursive(st.sampled_from(PLAIN), _larger, max_leaves=3)


def _of(generic: Any, kinds: Any) -> Any:
    return generic[kinds]


def _larger(inner: Any) -> Any:
    return st.one_of(
        inner.map(lambda of: (_of(list, of[0]), st.lists(of[1], max_size=3))),
        inner.map(lambda of: (_of(deque, of[0]), st.lists(of[1], max_size=3).map(deque))),
        inner.map(lambda of: (_of(tuple, (of[0], ...)), st.lists(of[1], max_size=3).map(tuple))),
        inner.map(lambda of: (of[0] | None, st.none() | of[1])),
        st.tuples(inner, inner).map(
            lambda two: (_of(tuple, (two[0][0], two[1][0])), st.tuples(two[0][1], two[1][1]))
        ),
        st.tuples(st.sampled_from(KEYS), inner).map(
            lambda two: (
                _of(dict, (two[0][0], two[1][0])),
                st.dictionaries(two[0][1], two[1][1], max_size=3),
            )
        ),
        inner.map(
            lambda of: (
                (made := make_dataclass("Made", [("inner", of[0])])),
                of[1].map(made),
            )
        ),
    )


def reading(annotation: Any) -> Reader:
    reader = reader_of(annotation)
    assert reader is not None
    return reader


def through_json(value):
    return json.loads(json.dumps(value))


@given(st.data())
def test_an_argument_comes_back_the_same(data):
    annotation, values = data.draw(annotated())
    value = data.draw(values)

    def work(value): ...

    work.__annotations__ = {"value": annotation}
    handler = Handler("work", work)
    payload = checked(handler.payload(value=value)) or {}
    again = handler.arguments(through_json(payload))["value"]
    assert again == value
    assert type(again) is type(value)


@given(st.data())
def test_a_result_is_stored_by_the_same_rules(data):
    annotation, values = data.draw(annotated())
    value = data.draw(values)
    assert reading(annotation).read(through_json(stored(value))) == value


@given(st.data())
def test_a_set_is_written_in_the_same_order_each_time(data):
    kind, values = data.draw(st.sampled_from(IMMUTABLE))
    items = data.draw(st.lists(values, max_size=5))
    written = jsonable(set(items))
    assert written == jsonable(frozenset(reversed([*items, *items])))
    assert reading(_of(set, kind)).read(through_json(written)) == set(items)
