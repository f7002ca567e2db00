"""Records that come one after another and share most of their values: written as copies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from operator import attrgetter, eq, is_
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Alike(Generic[T]):
    """Writes a record as the last one was, where all but its own fields hold the same objects.

    What is written is shared but for the object itself: nobody may change what is in it.
    """

    def __init__(
        self, names: Collection[str], own: Mapping[str, Any], write: Callable[[T], dict[str, Any]]
    ) -> None:
        self._write = write
        #: The fields that each has of its own, with the value that is left out.
        self._own = own
        self._left_out = [*own.values()]
        self._values = attrgetter(*own)
        self._shared = attrgetter(*(name for name in names if name not in own))
        #: One tuple, since threads write too.
        self._last: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    def write(self, record: T) -> dict[str, Any]:
        """The document of a record."""
        values = self._values(record)
        # Which of its own fields are left out has to be the same as well.
        shared = (*self._shared(record), *map(eq, values, self._left_out))
        last = self._last
        if last is not None and all(map(is_, shared, last[0])):
            document = last[1].copy()
            for name, value in zip(self._own, values, strict=True):
                if name in document:
                    document[name] = value
            return document
        document = self._write(record)
        self._last = shared, document | {name: None for name in self._own if name in document}
        return document
