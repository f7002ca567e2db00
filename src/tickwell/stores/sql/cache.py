"""Jobs by id and version, parsed once: a definition never changes under its version."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from tickwell.domain.document import job_from_document
from tickwell.domain.job import Job
from tickwell.domain.trigger.work import tried_before
from tickwell.errors import StoreCorrupt
from tickwell.stores.unreadable import UnreadableJobs

#: A parsed job takes about 2 KB.
MOST = 20_000
#: Jobs that are added together and remembered at once. Of more, each is read when it fires: they
#: would push out those that do.
FEW = 100


class JobCache:
    """The jobs used last; shared by the threads of a store."""

    def __init__(self, most: int = MOST) -> None:
        #: What could not be read, by the keys of the store's rows.
        self.unreadable: UnreadableJobs[Any] = UnreadableJobs()
        self._most = most
        self._jobs: OrderedDict[tuple[str, int], Job] = OrderedDict()
        self._lock = Lock()

    def get(self, id: str, version: int) -> Job | None:
        """The job, if it is known."""
        with self._lock:
            job = self._jobs.get((id, version))
            if job is not None:
                self._jobs.move_to_end((id, version))
            return job

    def many(self, wanted: Iterable[tuple[str, int]]) -> list[Job | None]:
        """The jobs with these ids and versions, as far as they are known."""
        with self._lock:
            found = []
            for key in wanted:
                job = self._jobs.get(key)
                if job is not None:
                    self._jobs.move_to_end(key)
                found.append(job)
            return found

    def parse(self, id: str, version: int, document: str) -> Job:
        """The job of a stored document; raises `StoreCorrupt` when it cannot be read here."""
        known = self.get(id, version)
        if known is not None:
            return known
        try:
            with tried_before():
                job = job_from_document(json.loads(document))
        except Exception as error:
            raise StoreCorrupt(
                f"the definition of job {id} cannot be read by this process"
                f" ({type(error).__name__}: {error}); run the version of Tickwell and of tzdata"
                " that wrote it, or mend its document"
            ) from error
        self.put(job)
        return job

    def read(self, key: int | str, row: tuple[str, int, str], now: int) -> Job | None:
        """The job of an id, a version and a document; one that cannot be read is left out."""
        try:
            return self.parse(*row)
        except StoreCorrupt as error:
            self.unreadable.add(key, row[0], error, now)
            return None

    @contextmanager
    def unless_rolled_back(self) -> Iterator[None]:
        """Forget everything should the block fail.

        A version that was read inside a transaction that never committed may be given to another
        definition by another process.
        """
        try:
            yield
        except BaseException:
            with self._lock:
                self._jobs.clear()
            raise

    def put(self, job: Job) -> None:
        """Remember a job."""
        with self._lock:
            self._jobs[job.id, job.version] = job
            if len(self._jobs) > self._most:
                self._jobs.popitem(last=False)
