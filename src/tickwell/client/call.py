"""One call of an operation as a value: sent over HTTP, or dispatched in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar, overload
from urllib.parse import quote

from tickwell.domain.payload import KEEP
from tickwell.domain.trigger.duration import Duration, format_duration, parse_duration
from tickwell.domain.trigger.moment import exact, to_text
from tickwell.errors import InvalidInput

T = TypeVar("T")
Instant = datetime | str
JSON = "application/json"
IDEMPOTENCY_KEY = "Idempotency-Key"
Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """A call of an operation whose answer is a `T`."""

    #: The id of the operation.
    operation: str
    method: str
    #: Its path below the address of the server, with the names of `arguments` in braces.
    template: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    query: Query = ()
    #: None: there is no body.
    body: Any = None
    #: The version of the job that was read; None: any.
    version: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Sent again after a lost answer, it has the same effect and the same answer.
    repeatable: bool = False

    @property
    def path(self) -> str:
        """The path, escaped; a name may have any character but a slash."""
        for part in self.arguments.values():
            if not part or part in {".", ".."} or "/" in part:
                raise InvalidInput(f"{part!r} cannot be part of an address", hint="Use the id")
        escaped = {name: quote(part, safe="") for name, part in self.arguments.items()}
        return self.template.format(**escaped)

    @property
    def idempotency_key(self) -> str | None:
        """The key that the caller chose."""
        return self.headers.get(IDEMPOTENCY_KEY)

    def after(self, cursor: str) -> Call[T]:
        """The same for the page that begins there."""
        rest = tuple(pair for pair in self.query if pair[0] != "cursor")
        return replace(self, query=(*rest, ("cursor", cursor)))


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answered."""

    status: int
    document: Any
    #: An earlier call with the same idempotency key did it.
    replayed: bool = False


class Calls(Protocol):
    """Carries calls out: over HTTP, or in this process."""

    async def answer(self, call: Call[Any]) -> Answer:
        """The answer to a call; errors are those of our tree."""
        ...


def request(
    operation: str,
    method: str,
    template: str,
    *,
    arguments: Mapping[str, str] | None = None,
    query: Mapping[str, Any] | None = None,
    body: Any = None,
    version: int | None = None,
    any_version: bool = False,
    content_type: str = "",
    idempotency_key: Any = ...,
    repeatable: bool = False,
) -> Call[Any]:
    """A call; one that takes an idempotency key may be repeated."""
    headers = {"Content-Type": content_type} if content_type else {}
    if version is not None or any_version:
        headers["If-Match"] = "*" if version is None else f'"{version}"'
    if idempotency_key is not None and idempotency_key is not ...:
        headers[IDEMPOTENCY_KEY] = str(idempotency_key)
    return Call(
        operation=operation,
        method=method,
        template=template,
        arguments=arguments or {},
        query=_query(query or {}),
        body=body,
        version=version,
        headers=headers,
        repeatable=repeatable or idempotency_key is not ...,
    )


def fields(**values: Any) -> dict[str, Any]:
    """An object without None; a name that is a keyword of Python ends with `_`."""
    return {name.rstrip("_"): value for name, value in values.items() if value is not None}


def instant(value: Instant | None, field: str) -> str | None:
    """As documents have it; a datetime must know its zone."""
    return to_text(exact(value, field)) if isinstance(value, datetime) else value


def duration(value: Duration | None, field: str) -> str | None:
    """As documents have it: "10m"."""
    return None if value is None else format_duration(parse_duration(value, field=field))


def set_fields(**values: Any) -> dict[str, Any]:
    """An object without what is to be kept; None is a value."""
    return {name: value for name, value in values.items() if value is not KEEP}


@overload
def texts(values: None) -> None: ...
@overload
def texts(values: Iterable[str]) -> list[str]: ...
def texts(values: Iterable[str] | None) -> list[str] | None:
    """A list; one string stands for itself, not for its letters."""
    if values is None:
        return None
    return [values] if isinstance(values, str) else list(values)


def _query(values: Mapping[str, Any]) -> Query:
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        many = isinstance(value, Iterable)
        pairs += [(name, str(each)) for each in (texts(value) if many else [value])]
    return tuple(pairs)
