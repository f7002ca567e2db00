"""Pages of lists: as long as was asked for, unless what is in them is large."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tickwell.domain.celery import Celery
from tickwell.domain.execution import Execution
from tickwell.domain.http import Http
from tickwell.domain.http.json_value import Json
from tickwell.domain.job import Entry, Job
from tickwell.ports.records import ExecutionFilter, JobFilter, Page

#: How many that do not match a page passes over, before it gives back what it found.
LOOK = 10_000
#: Bytes of payloads, bodies and results that a page holds, whatever the number of its items.
MOST_BYTES = 16 * 1024 * 1024
#: Items that are in memory before their bytes are known.
STEP = 100

T = TypeVar("T")
F = TypeVar("F", JobFilter, ExecutionFilter)
Read = Callable[[F, str | None, int], Awaitable[Page[T]]]


async def read_page(
    read: Read[F, T], where: F, cursor: str | None, limit: int, size: Callable[[T], int]
) -> Page[T]:
    """Up to `limit` items, read in steps; where one would be too much, the page ends before it."""
    steps = -(-limit // STEP)
    where = replace(where, look=LOOK // steps)
    page: Page[T] = Page(items=[], cursor=cursor)
    room = MOST_BYTES
    for _ in range(steps):
        start, wanted = page.cursor, min(STEP, limit - len(page.items))
        part: Page[T] = await read(where, start, wanted)
        sizes = [*map(size, part.items)]
        fit = _fitting(sizes, room)
        if fit < len(sizes):
            # One that is too large alone is a page of its own: the reader has to pass it.
            fit = fit or int(not page.items)
            part = await read(where, start, fit) if fit else Page(items=[], cursor=start)
            return Page(items=page.items + part.items, cursor=part.cursor)
        page = Page(items=page.items + part.items, cursor=part.cursor)
        room -= sum(sizes)
        if page.cursor is None or len(page.items) == limit:
            break
    return page


def within(items: Sequence[T], size: Callable[[T], int]) -> list[T]:
    """The first of those that were read already, as many as a page holds; one at least."""
    return list(items[: max(1, _fitting([*map(size, items)], MOST_BYTES))])


def job_size(entry: Entry) -> int:
    """The bytes of a job that can be many."""
    return definition_size(entry.job)


def definition_size(job: Job) -> int:
    """The same of its definition."""
    target = job.target
    if isinstance(target, Celery):
        return _size(job.payload) + _size(target.args) + _size(target.kwargs)
    return _size(job.payload) + (_size(target.body) if isinstance(target, Http) else 0)


def execution_size(execution: Execution) -> int:
    """The bytes of an execution that can be many."""
    return _size(execution.payload) + _size(execution.result)


def _fitting(sizes: Sequence[int], room: int) -> int:
    for number, size in enumerate(sizes):
        room -= size
        if room < 0:
            return number
    return len(sizes)


def _size(value: Any) -> int:
    if value is None:
        return 0
    text = value.text if isinstance(value, Json) else value
    return len(text) if isinstance(text, str) else len(json.dumps(text))
