"""What many jobs share is read and written once: targets, policies, whole documents."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from operator import attrgetter, eq, is_
from typing import Any, Generic, TypeVar

from tickwell.domain.document.values import Value
from tickwell.domain.job import Entry, Job

T = TypeVar("T")


class Alike(Generic[T]):
    """Writes a record as the last one was, where all but its own fields hold the same objects.

    What is written is shared but for the object itself: do not change what is in it.
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


#: Values of one kind that are remembered; then all are forgotten.
MOST = 1024
#: Bytes of a document up to which it is remembered.
LARGEST = 2048


def remembered(value: Value) -> Value:
    """The same for records that never change. What is written is shared: do not change it."""
    records: dict[bytes, Any] = {}
    #: By identity, which the record in it keeps from being given to another.
    documents: dict[int, tuple[Any, Any]] = {}

    def read(document: Any) -> Any:
        try:
            key = marshal.dumps(document, 2)
        except ValueError:  # nothing that JSON has
            return value.read(document)
        known = records.get(key)
        if known is not None:
            return known
        record = value.read(document)
        if len(key) <= LARGEST:
            if len(records) >= MOST:
                records.clear()
            records[key] = record
        return record

    def write(record: Any) -> Any:
        known = documents.get(id(record))
        if known is not None:
            return known[1]
        document = value.write(record)
        if len(documents) >= MOST:
            documents.clear()
        documents[id(record)] = record, document
        return document

    return Value(read, write)


#: What each job has of its own.
_OWN = ("id", "name", "payload")
_SHARED = [each.name for each in fields(Job) if each.name not in _OWN]
#: Whether two jobs have the very same objects in all other fields: what is equal, as 1 and true,
#: need not be written alike. Written out as `dataclass` does: a loop takes four times as long.
_is_alike: Callable[[Job, Job], bool] = eval(  # noqa: S307 - the names of our own fields
    f"lambda a, b: {' and '.join(f'a.{name} is b.{name}' for name in _SHARED)}"
)


def texts_of(
    entries: Iterable[Entry],
    document_of: Callable[[Entry], dict[str, Any]],
    dump: Callable[[Any], str],
) -> list[str]:
    """The text of the document of each entry, its own fields first."""
    texts: list[str] = []
    last: Entry | None = None
    rest = ""
    for entry in entries:
        job = entry.job
        if last is None or entry.cursor is not last.cursor or not _is_alike(job, last.job):
            document = document_of(entry)
            rest = dump({name: document[name] for name in document if name not in _OWN})[1:]
            last = entry
        own = {"id": job.id, "name": job.name}
        if job.payload is not None:
            own["payload"] = job.payload
        texts.append(f"{dump(own)[:-1]},{rest}")
    return texts
