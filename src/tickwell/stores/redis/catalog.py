"""Jobs on Redis."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from tickwell.domain.change import Changed, Changer
from tickwell.domain.job import Entry, JobState
from tickwell.errors import JobExists, JobIdTaken, StoreCorrupt
from tickwell.ports.records import JobFilter, Page
from tickwell.stores.page_cursor import require_job_cursor
from tickwell.stores.redis.base import RedisBase
from tickwell.stores.redis.changing import change_job
from tickwell.stores.redis.listing import job_walk, job_wanted, matches, place
from tickwell.stores.redis.rows import cursor_given, document, dumps, entry_of, facts, present
from tickwell.stores.sql.codec import job_counts
from tickwell.stores.sql.edges import jobs_reach
from tickwell.stores.sql.entries import own
from tickwell.stores.sql.text import clean

#: Jobs that one script looks at for a list.
STRETCH = 500


class RedisCatalog(RedisBase):
    """`ports.store.CatalogStore`."""

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        given = [
            present(
                (
                    entry.job.id,
                    clean(entry.job.dedupe_key) or None,
                    cursor_given(entry.cursor),
                    facts(entry.job),
                    document(entry.job),
                )
            )
            for entry in entries
        ]
        answers = await self.answer("add_jobs", dumps(given))
        if isinstance(answers, int):
            if answers < 0:
                raise JobIdTaken(entries[-answers - 1].job.id)
            raise JobExists(entries[answers].job.name)
        for entry, known in zip(entries, answers, strict=True):
            if known is None:
                self.cache.put(own(entry).job)
        self.bell.ring()
        return [
            own(entry if known is None else entry_of(self.cache, known))
            for entry, known in zip(entries, answers, strict=True)
        ]

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        changed = []
        try:
            for id in ids:
                changed.append(await change_job(self, project, id, change, now))  # noqa: PERF401 - those before an error stay changed
        finally:
            self.bell.ring()
        return changed

    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        wanted = dumps([clean(key) for key in keys])
        rows = await self.answer("get_jobs", clean(project) or "", wanted)
        return [own(entry_of(self.cache, row)) for row in rows]

    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        counted, cursor = Counter[int](), 0
        while True:  # in stretches: a script that reads a million jobs would hold everything up
            cursor, *counts = await self.answer("count_jobs", cursor, STRETCH, clean(project) or "")
            counted.update(dict(enumerate(counts)))
            if not cursor:
                return job_counts(counted.items())

    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        require_job_cursor(where, cursor)
        walk, wanted, found = job_walk(where, cursor), job_wanted(where), list[Entry]()
        end, left = None, jobs_reach(where) or sys.maxsize
        while len(found) <= limit and left:
            looks = min(left, STRETCH)
            end, rows = await self.client.call("list_jobs", *walk.bounds(), looks, wanted)
            for row in json.loads(rows):
                with suppress(StoreCorrupt):  # a job that cannot be read here is left out
                    entry = entry_of(self.cache, row)
                    if matches(entry.job, where):
                        found.append(entry)
            if end is None:
                break
            walk.go_on(end)
            left -= looks
        items = [own(entry) for entry in found[:limit]]
        if len(found) > limit:
            return Page(items=items, cursor=place(items[-1], where))
        return Page(items=items, cursor=None if end is None else end.decode())
