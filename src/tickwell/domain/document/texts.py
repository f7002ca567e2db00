"""The JSON of entries that come together: what they share is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from tickwell.domain.job import Entry, Job

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
