"""Retention of a project: what a job gets that does not say how long its history is kept."""

from __future__ import annotations

from tickwell.domain.document.job import retention_from_document, retention_to_document
from tickwell.domain.policy import Retention
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.audit.audit import Audit
from tickwell.services.time import Time
from tickwell.services.ttl_cache import Recall

KIND = "retention"


class Retentions:
    """One for each project, else the one that is built in."""

    def __init__(self, store: RecordStore, clock: Time, audit: Audit) -> None:
        self._store = store
        self._clock = clock
        self._audit = audit
        self._known: Recall[str, Retention] = Recall(clock)

    @needs(Permission.READ)
    async def get(self, actor: Actor) -> Retention:
        """What the actor's project gives to new jobs."""
        return await self._read(actor.project)

    @needs(Permission.ADMINISTER)
    async def set(self, actor: Actor, retention: Retention) -> Retention:
        """Give it to jobs that are made from now on; those there are keep what they have."""
        before = retention_to_document(await self._read(actor.project))
        after = retention_to_document(retention)
        record = Record(kind=KIND, project=actor.project, key=KIND, document=after)
        await self._store.put_record(record, self._clock.now())
        self._known.forget(actor.project)
        await self._audit.record(actor, "retention.set", "retention", before, after)
        return retention

    async def of(self, project: str) -> Retention:
        """The same, remembered for a moment."""
        return await self._known.get(project, lambda: self._read(project))

    async def _read(self, project: str) -> Retention:
        return await read_retention(self._store, project, self._clock.now())


async def read_retention(store: RecordStore, project: str, now: int) -> Retention:
    """What a project gives to new jobs."""
    record = await store.get_record(KIND, project, KIND, now)
    return retention_from_document(record.document) if record else Retention()


async def built_in(_project: str) -> Retention:
    """Where nothing is administered."""
    return Retention()
