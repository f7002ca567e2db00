"""Jobs on Redis: added, changed, listed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tickwell.domain.change import Change, Changed, Changer, Pending, leave_out
from tickwell.domain.job import Entry, Job, JobState
from tickwell.errors import JobExists, JobIdTaken, NotFound, StoreCorrupt
from tickwell.ports.records import JobFilter, Page
from tickwell.stores.page_cursor import require_job_cursor
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.firing import unrecorded
from tickwell.stores.redis.rows import (
    cursor_argument,
    cursor_of,
    document,
    dumps,
    entry_of,
    execution_argument,
    facts,
    present,
    skip_argument,
)
from tickwell.stores.sql.filters import jobs_reach
from tickwell.stores.sql.rows.codec import JOB_STATE_CODE, clean, from_json, job_counts
from tickwell.stores.sql.rows.entries import own

#: Jobs that one script examines for a list.
SCAN_BATCH = 500


class RedisCatalog:
    """`ports.store.CatalogStore`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        rows = [
            present(
                (
                    entry.job.id,
                    clean(entry.job.dedupe_key) or None,
                    cursor_argument(entry.cursor),
                    facts(entry.job),
                    document(entry.job),
                )
            )
            for entry in entries
        ]
        answers = await self.client.answer("add_jobs", dumps(rows))
        if isinstance(answers, int):
            if answers < 0:
                raise JobIdTaken(entries[-answers - 1].job.id)
            raise JobExists(entries[answers].job.name)
        for entry, known in zip(entries, answers, strict=True):
            if known is None:
                self.client.cache.put(own(entry).job)
        self.client.bell.ring()
        return [
            own(entry if known is None else entry_of(self.client.cache, known))
            for entry, known in zip(entries, answers, strict=True)
        ]

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        changed = []
        try:
            for id in ids:
                changed.append(await self._change(project, id, change, now))  # noqa: PERF401 - jobs before an error stay changed
        finally:
            self.client.bell.ring()
        return changed

    async def _change(self, project: str, id: str, change: Changer, now: int) -> Changed:
        """Read the job, decide here, and write if it did not change in between; else repeat."""
        while True:
            found = await self.client.call("read_job", id, clean(project) or "")
            if found is None:
                raise NotFound("job", id)
            row, gated = json.loads(found[0]), json.loads(found[1])
            entry = entry_of(self.client.cache, row)
            made = change(own(entry), now)
            if made is None:
                return Changed(entry=own(entry))
            job = made.job or entry.job
            [made.skips] = await unrecorded(self.client, [(entry.job, made.skips)])
            if not leave_out(made, made.skips):
                return Changed(entry=own(entry))
            limits = _limits(job, made, gated) if made.pending is Pending.RESTAMP else {}
            written = await self.client.call(
                "change_job", now, id, row[1][0], _argument(made), dumps(limits)
            )
            if written == b"taken":
                raise JobExists(job.name)
            if written is not None:
                cursor, withdrawn, cancelling = written
                self.client.cache.put(own(Entry(job, entry.cursor)).job)
                changed = own(Entry(job, cursor_of(json.loads(cursor))))
                return Changed(
                    entry=changed,
                    withdrawn=withdrawn,
                    reason=made.reason,
                    cancelling=cancelling,
                )

    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        wanted = dumps([clean(key) for key in keys])
        rows = await self.client.answer("get_jobs", clean(project) or "", wanted)
        return [own(entry_of(self.client.cache, row)) for row in rows]

    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        counted, cursor = Counter[int](), 0
        while True:  # in batches: a script that reads a million jobs would block the server
            cursor, *counts = await self.client.answer(
                "count_jobs", cursor, SCAN_BATCH, clean(project) or ""
            )
            counted.update(dict(enumerate(counts)))
            if not cursor:
                return job_counts(counted.items())

    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        require_job_cursor(where, cursor)
        walk, wanted, found = _walk(where, cursor), _script_filter(where), list[Entry]()
        end, left = None, jobs_reach(where) or sys.maxsize
        while len(found) <= limit and left:
            looks = min(left, SCAN_BATCH)
            end, rows = await self.client.call("list_jobs", *walk.bounds(), looks, wanted)
            for row in json.loads(rows):
                with suppress(StoreCorrupt):  # a job that this process cannot read is left out
                    entry = entry_of(self.client.cache, row)
                    if _matches(entry.job, where):
                        found.append(entry)
            if end is None:
                break
            walk.go_on(end)
            left -= looks
        items = [own(entry) for entry in found[:limit]]
        if len(found) > limit:
            return Page(items=items, cursor=_page_cursor(items[-1], where))
        return Page(items=items, cursor=None if end is None else end.decode())


@dataclass(slots=True)
class _Walk:
    """The position of a list in an index of jobs: from (exclusive), to, and its order."""

    index: str
    begin: str | bytes
    end: str
    order: str = "BYLEX"

    def bounds(self) -> tuple[str | bytes, ...]:
        """The arguments of the script."""
        return self.index, self.begin, self.end, self.order

    def go_on(self, last: bytes) -> None:
        """Continue after the last job that was examined."""
        self.begin = b"(" + last if self.order == "BYLEX" else last


def _walk(where: JobFilter, cursor: str | None) -> _Walk:
    """By project and name, or by the next fire time."""
    if where.fires_before is not None:
        return _Walk("fire", cursor or "", str(where.fires_before), "BYSCORE")
    project = clean(where.project)
    begin, end = ("-", "+") if project is None else (f"[{project}\0", f"[{project}\1")
    rare = where.states == {JobState.FINISHED} and where.auto_remove is True
    index = "removable" if rare else "jobs"
    return _Walk(index, begin if cursor is None else b"(" + cursor.encode("utf-8", "replace"), end)


def _page_cursor(entry: Entry, where: JobFilter) -> str:
    """The page cursor after a job: by time, or by project, name, and id, since names repeat."""
    job = entry.job
    if where.fires_before is not None:
        return f"{entry.cursor.next_fire_time:015}\0{job.id}"
    return f"{job.project}\0{job.name}\0{job.id}"


def _script_filter(where: JobFilter) -> str:
    """The fields of a filter that scripts apply: states, project, queue, search, auto_remove."""
    removable = None if where.auto_remove is None else 1 if where.auto_remove else 2
    search = None if where.search is None else clean(where.search.lower())
    states = [JOB_STATE_CODE[state] for state in where.states]
    values = states, clean(where.project), clean(where.queue), search, removable
    return dumps(present(values))


def _matches(job: Job, where: JobFilter) -> bool:
    """The other fields of the filter, which need the definition."""
    return where.app in {None, job.app} and (where.tag is None or where.tag in job.tags)


def _argument(made: Change) -> str:
    definition = [facts(made.job), document(made.job)] if made.job else False
    return dumps(
        [
            cursor_argument(made.cursor),
            definition,
            made.pending.value,
            [execution_argument(new) for new in made.executions],
            [skip_argument(skip) for skip in made.skips],
            sorted(made.recalled),
        ]
    )


def _limits(job: Job, made: Change, gated: list[Any]) -> dict[str, int]:
    """The new limit of each pending execution that is in the gate of the new definition, or 0."""
    found = [(id, gate, from_json(payload)) for id, gate, payload in gated]
    found += [(new.id, new.gate, new.payload) for new in made.executions if new.gate]
    return {id: new_limit(job, gate, payload) for id, gate, payload in found}


def new_limit(job: Job, gate: str | None, payload: Any) -> int:
    """The limit of an execution that stays in its gate under a new definition; 0: unchanged."""
    current, limit = job.gate_of(payload)
    return limit if gate is not None and current == gate else 0
