"""Jobs: added, changed, listed, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from tickwell.domain.change import Changed, Changer
from tickwell.domain.job import Entry, JobState
from tickwell.errors import StoreError
from tickwell.ports.records import JobFilter, Page
from tickwell.stores.page_cursor import require_job_cursor
from tickwell.stores.sql.cache import FEW
from tickwell.stores.sql.filters import jobs_reach
from tickwell.stores.sql.flow.adding_jobs import add_jobs
from tickwell.stores.sql.flow.changing import Changes
from tickwell.stores.sql.parts import D, Part, Work
from tickwell.stores.sql.rows.codec import clean, ids_among, job_counts
from tickwell.stores.sql.rows.entries import documents_of, entry_of, own, page_of
from tickwell.stores.sql.session import Session

T = TypeVar("T")

#: How often names are looked up again after somebody else took one at the same time.
TRIES = 5


class SqlCatalog(Part[D]):
    """`ports.store.CatalogStore`."""

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        documents = documents_of(entries)
        known = await self._added(entries, documents)
        answers = []
        for entry in entries:
            row = known.get(entry.job.id)
            if row is None:
                if len(entries) <= FEW:
                    # The copy is ours: the caller's own is the answer.
                    self.cache.put(own(entry).job)
                answers.append(entry)
            else:
                answers.append(own(entry_of(self.cache, row)))
        self.context.ring()
        return answers

    async def _added(self, entries: Sequence[Entry], documents: list[str]) -> dict[str, Any]:
        """Insert what is new; for the others, by the id given, what is there already."""
        return await self._unless_taken(lambda session: add_jobs(session, entries, documents))

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        with self.cache.unless_rolled_back():
            changed, error = await self._unless_taken(
                lambda session: Changes(session, self.cache, project, now).make(ids, change)
            )
        self.context.ring()
        if error is not None:
            raise error
        return changed

    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        rows = await self.database.read(lambda session: entry_rows(session, project, keys))
        return [own(entry_of(self.cache, row)) for row in rows]

    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        asked = clean(project)
        return job_counts(
            await self.database.survey(lambda session: session.rows("job_counts", asked))
        )

    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        require_job_cursor(where, cursor)
        sql, reach = self.database.sql, jobs_reach(where)

        async def work(session: Session) -> tuple[list[Any], str | None]:
            edge = None
            if reach is not None:
                query, parameters = self.context.listing.jobs_edge(sql, where, cursor, reach)
                found = await session.query(query, *parameters)
                edge = "\0".join(found[0]) if found else None
            query, parameters = self.context.listing.jobs_query(sql, where, cursor, limit + 1, edge)
            return await session.query(query, *parameters), edge

        rows, edge = await self.database.read_one(work)
        return page_of(self.cache, rows, where, limit, edge)

    async def _unless_taken(self, work: Work[T]) -> T:
        """Write; a name or key that somebody took at the same time is looked up again."""
        for _ in range(TRIES):
            try:
                return await self.database.write(work)
            except StoreError as error:
                if not self.context.errors.is_taken(error.__cause__):
                    raise
        return await self.database.write(work)


async def entry_rows(session: Session, project: str, keys: Sequence[str]) -> list[Any]:
    """The jobs of a project with these ids or else names, as `entries` has them."""
    ids = ids_among(keys)
    rows = await session.rows("entries", ids) if ids else []
    found = {row[0]: row for row in rows if row[10] == project}
    others = [clean(key) for key in keys if key not in found]
    names = dict(await session.rows("named", project, others)) if others else {}
    rows = await session.rows("entries", [*names.values()]) if names else []
    named = {row[0]: row for row in rows}
    found |= {name: named[id] for name, id in names.items() if id in named}
    return [found[key] for key in keys if key in found]
