"""What all parts of the store share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tickwell.domain.job import Job
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.notifier import Bell
from tickwell.stores.redis.rows import dumps
from tickwell.stores.sql.cache import JobCache


class RedisBase:
    """The connections, the definitions that are known, and the bell for other processes."""

    client: Client
    cache: JobCache
    bell: Bell

    async def answer(self, name: str, *arguments: str | int) -> Any:
        """What a script says in JSON."""
        return json.loads(await self.client.call(name, *arguments))

    def left_out(self, now: int, *more: str, planning: bool = False) -> str:
        """The jobs that scripts have to pass over."""
        return dumps([*self.cache.unreadable.keys(now, planning=planning), *more])

    async def definitions(self, wanted: Sequence[tuple[str, int]], now: int) -> dict[str, Job]:
        """Jobs by id, in these versions or newer ones; what is gone or unreadable is left out."""
        versions = dict(wanted)
        known = self.cache.many(versions.items())
        jobs = {id: job for id, job in zip(versions, known, strict=True) if job is not None}
        missing = [id for id in versions if id not in jobs]
        if missing:
            documents = await self.client.call("definitions", dumps(missing))
            for id, document in zip(missing, documents, strict=True):
                row = id, versions[id], document
                job = self.cache.read(id, row, now) if document is not None else None
                if job is not None:
                    jobs[id] = job
        return jobs
