"""One request as a value: built once, sent by whoever can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from tickwell.domain.trigger.duration import Duration, format_duration, parse_duration
from tickwell.domain.trigger.moment import exact, to_text
from tickwell.errors import InvalidInput

T = TypeVar("T")
Instant = datetime | str
#: Leave a payload as it is; None is a payload too.
KEEP: Final[Any] = object()
ROOT = "/api/v1"
JSON, PATCH = "application/json", "application/merge-patch+json"
Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """A request whose answer is a `T`."""

    method: str
    #: Below the address of the server, escaped.
    path: str
    query: Query = ()
    #: None: there is no body.
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Sent again after a lost answer, it has the same effect and the same answer.
    repeatable: bool = False

    def after(self, cursor: str) -> Call[T]:
        """The same for the page that begins there."""
        rest = tuple(pair for pair in self.query if pair[0] != "cursor")
        return replace(self, query=(*rest, ("cursor", cursor)))


def path(*parts: str) -> str:
    """An address below the root of the API; a name may hold any character but a slash."""
    for part in parts:
        if not part or part in {".", ".."} or "/" in part:
            raise InvalidInput(f"{part!r} cannot be part of an address", hint="Use the id")
    return ROOT + "".join(f"/{quote(part, safe='')}" for part in parts)


def get(*parts: str, **query: Any) -> Call[Any]:
    """Read."""
    return Call(method="GET", path=path(*parts), query=_query(query), repeatable=True)


def post(*parts: str, body: Any = None, key: str | None = None, once: bool = True) -> Call[Any]:
    """Do; `once` where the server takes an `Idempotency-Key`: not where it answers a secret."""
    headers = {} if key is None else {"Idempotency-Key": key}
    return Call(method="POST", path=path(*parts), body=body, headers=headers, repeatable=once)


def put(*parts: str, body: Any = None) -> Call[Any]:
    """Set, whatever was there."""
    return Call(method="PUT", path=path(*parts), body=body, repeatable=True)


def edit(method: str, *parts: str, body: Any, version: int | None) -> Call[Any]:
    """Change, provided that the version is still the one that was read; None: any will do."""
    kind = PATCH if method == "PATCH" else JSON
    headers = {"If-Match": "*" if version is None else f'"{version}"', "Content-Type": kind}
    return Call(method=method, path=path(*parts), body=body, headers=headers)


def delete(*parts: str, version: int | None = None) -> Call[Any]:
    """Take away."""
    headers = {} if version is None else {"If-Match": f'"{version}"'}
    return Call(method="DELETE", path=path(*parts), headers=headers)


def fields(**given: Any) -> dict[str, Any]:
    """An object without what was not given; a name that Python needs itself ends with `_`."""
    return {name.rstrip("_"): value for name, value in given.items() if value is not None}


def instant(given: Instant | None, field: str) -> str | None:
    """As documents have it; a datetime must know its zone."""
    return to_text(exact(given, field)) if isinstance(given, datetime) else given


def duration(given: Duration | None, field: str) -> str | None:
    """As documents have it: "10m"."""
    return None if given is None else format_duration(parse_duration(given, field=field))


def known(given: Mapping[str, Any], names: type) -> dict[str, Any]:
    """What was given, with its instants as documents have them; refused as Python refuses it.

    A filter that is misspelt would choose all.
    """
    for name in given.keys() - names.__annotations__.keys():
        raise TypeError(f"got an unexpected keyword argument {name!r}")
    return {name: instant(value, name) for name, value in given.items()}


def texts(given: Iterable[str]) -> list[str]:
    """Several, where one stands for itself: its letters are never meant."""
    return [given] if isinstance(given, str) else list(given)


def _query(given: Mapping[str, Any]) -> Query:
    pairs: list[tuple[str, str]] = []
    for name, value in fields(**given).items():
        many = isinstance(value, Iterable)
        pairs += [(name, str(each)) for each in (texts(value) if many else [value])]
    return tuple(pairs)
