"""Definitions: from the cache where the version is known."""

from __future__ import annotations

from collections.abc import Iterable

from tickwell.domain.job import Job
from tickwell.errors import StoreCorrupt
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.pieces import in_pieces
from tickwell.stores.sql.session import Session


async def definitions(
    session: Session, cache: JobCache, wanted: Iterable[tuple[str, int]], now: int
) -> dict[str, Job]:
    """The definitions of jobs given by id and version in force, by id; none that is unreadable."""
    versions = dict(wanted)
    known = zip(versions, cache.many(versions.items()), strict=True)
    found = {id: job for id, job in known if job is not None}
    missing = [id for id in versions if id not in found]
    if missing:
        documents = await session.rows("documents", missing)
        async for piece in in_pieces(documents):
            for id, version, document in piece:
                job = cache.read(id, (id, version, document), now)
                if job is not None:
                    found[id] = job
        for id in {*missing} - {row[0] for row in documents}:
            # Left in, a claim would find it again and again.
            gone = StoreCorrupt("its definition is gone; restore a backup")
            cache.unreadable.add(id, id, gone, now)
    return found


class Jobs:
    """The definitions in force of jobs that are locked."""

    def __init__(self, session: Session, cache: JobCache) -> None:
        self._session = session
        self.cache = cache
        #: What an attempt was claimed by, for a job that cannot be read any more.
        self.claimed: dict[str, Job] = {}

    async def of(self, id: str, version: int) -> Job:
        """The definition of a job whose version in force is known."""
        known = self.cache.get(id, version)
        if known is not None:
            return known
        document = await self._session.value("job_document", id)
        try:
            return self.cache.parse(id, version, document)
        except StoreCorrupt:
            if id not in self.claimed:
                raise
            return self.claimed[id]
