"""In memory every store is a scratch store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tickwell.domain.job import Job
from tickwell.testing.verify.scratch.scratch_store import Mend, ScratchStore


class MemoryScratch(ScratchStore):
    """Ends with the process."""

    def __init__(self, url: str, tag: str) -> None:
        self.url = url
        self.name = "memory"

    async def empty(self) -> None:
        """A new store is empty."""

    async def drop(self) -> None:
        """Nothing remains."""

    async def corrupt(self, store: Any, job: Job) -> Mend:
        def put(definition: Any) -> None:
            jobs = store.tables.jobs
            jobs[job.id] = replace(jobs[job.id], job=definition)

        async def mend() -> None:
            put(job)

        put(_Unreadable(job))
        return mend


class _Unreadable:
    """A definition that a store cannot read."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __getattr__(self, name: str) -> Any:
        if name == "trigger":
            raise ValueError("a trigger of a newer version")
        return getattr(self._job, name)
