"""Reads a document field by field; what is wrong is named by its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import NoReturn

from tickwell.domain.trigger.duration import Millis, read_duration
from tickwell.errors import InvalidTrigger


class Reader:
    """One object of a document. Every field is taken once; `close` refuses what is left."""

    def __init__(self, document: object, path: str, example: str) -> None:
        self._path = path
        if not isinstance(document, Mapping):
            raise InvalidTrigger("must be an object", field=path, hint=f"For example: {example}")
        self._left = dict(document)
        self._known: list[str] = []

    def path(self, name: str) -> str:
        """Where a field of this object is."""
        return f"{self._path}.{name}" if self._path else name

    def refuse(self, name: str, reason: str, example: str) -> NoReturn:
        """Say what is wrong with a field."""
        raise InvalidTrigger(reason, field=self.path(name), hint=f"For example: {example}")

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._left.get(name) is not None

    def take(self, name: str) -> object:
        """The field as it is; None where it is missing."""
        self._known.append(name)
        return self._left.pop(name, None)

    def text(self, name: str, example: str, default: str | None = None) -> str | None:
        """A string."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, str):
            self.refuse(name, "must be a string", f'"{example}"')
        return value

    def whole(self, name: str, example: str) -> int | None:
        """A whole number."""
        value = self.take(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            self.refuse(name, "must be a whole number", example)
        return value

    def entries(self, name: str, example: str) -> list[object]:
        """A list; empty where the field is missing."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, (list, tuple)):
            self.refuse(name, "must be a list", example)
        return list(value)

    def duration(self, name: str) -> Millis:
        """A text with a unit, as 5m; 0 where the field is missing."""
        value = self.take(name)
        return Millis(0) if value is None else read_duration(value, field=self.path(name))

    def moment(self, name: str, example: str) -> datetime | None:
        """A date and time by ISO 8601."""
        value = self.text(name, example)
        if value is None:
            return None
        try:
            return datetime.fromisoformat(value[:64])
        except ValueError:
            self.refuse(name, f"{value[:64]!r} is not a date and time", example)

    def close(self) -> None:
        """Refuse fields that nobody took."""
        for name in self._left:
            known = f"The fields here are {', '.join(self._known)}"
            raise InvalidTrigger("unknown field", field=self.path(str(name)[:64]), hint=known)


@contextmanager
def placed(inside: str, path: str) -> Iterator[None]:
    """Name what is refused by its path in the document instead of its place in one object."""
    try:
        yield
    except InvalidTrigger as error:
        found = [
            InvalidTrigger(
                each.reason, field=_joined(path, each.field.removeprefix(inside)), hint=each.hint
            )
            for each in error.all
        ]
        raise found[0].along_with(found[1:]) from None


def _joined(path: str, field: str) -> str:
    return ".".join(part for part in (path, field.lstrip(".")) if part)
