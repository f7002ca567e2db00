"""Definitions inside a transaction: from the cache where the version is known."""

from __future__ import annotations

from tickwell.domain.job import Job
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sqlite.session import Session


class Jobs:
    """The definitions in force, by the key of the job."""

    def __init__(self, session: Session, cache: JobCache) -> None:
        self._session = session
        self._cache = cache

    def current(self, job: int) -> tuple[Job, int]:
        """The definition of a job and its state."""
        id, version, state = self._session.row("job_head", job)
        return self.of(job, id, version), state

    def of(self, job: int, id: str, version: int) -> Job:
        """The definition of a job whose version in force is known."""
        known = self._cache.get(id, version)
        if known is not None:
            return known
        return self._cache.parse(id, version, self._session.value("job_document", job))
