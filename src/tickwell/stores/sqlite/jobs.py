"""Definitions inside a transaction: from the cache where the version is known."""

from __future__ import annotations

from tickwell.domain.job import Job
from tickwell.errors import StoreCorrupt
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sqlite.session import Session


class Jobs:
    """The definitions in force, by the key of the job."""

    def __init__(self, session: Session, cache: JobCache) -> None:
        self._session = session
        self._cache = cache
        #: What an attempt was claimed by, for a job that cannot be read any more.
        self.claimed: dict[int, Job] = {}

    def current(self, job: int) -> tuple[Job, int]:
        """The definition of a job and its state."""
        id, version, state = self._session.row("job_head", job)
        return self.of(job, id, version), state

    def of(self, job: int, id: str, version: int) -> Job:
        """The definition of a job whose version in force is known."""
        known = self._cache.get(id, version)
        if known is not None:
            return known
        try:
            return self._cache.parse(id, version, self._session.value("job_document", job))
        except StoreCorrupt:
            if job not in self.claimed:
                raise
            return self.claimed[job]

    def can_be_read(self, job: int, now: int) -> bool:
        """Whether a job may be worked on here; if not, it is left out from now on."""
        try:
            self.current(job)
        except StoreCorrupt as error:
            self._cache.unreadable.add(job, self._session.row("job_head", job)[0], error, now)
            return False
        return True
