"""Callbacks of a project: added, listed, taken away."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections import defaultdict
from dataclasses import dataclass

from tickwell.domain.http import Http
from tickwell.domain.sender import CALLBACK
from tickwell.errors import InvalidInput, NotFound
from tickwell.ids import Random, new_id
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.admin.admin_documents import callback_document
from tickwell.services.audit.audit import Audit
from tickwell.services.callbacks.callback import (
    KIND,
    PROJECTS_KIND,
    Callback,
    CallbackEvent,
    from_document,
    to_document,
)
from tickwell.services.every_record import every_record
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.senders.senders import Senders, naming_url

#: Callbacks of one project.
MOST = 20


@dataclass(frozen=True, slots=True)
class NewCallback:
    """A callback with the key that it is signed with: the only moment at which anybody sees it."""

    callback: Callback
    signing_key: str


class Callbacks:
    """Each is sent by a job of its own, on demand, signed and retried as webhooks are."""

    def __init__(
        self, store: RecordStore, random: Random, *, senders: Senders, audit: Audit
    ) -> None:
        self._store = store
        self._random = random
        self._senders = senders
        self._jobs = senders.jobs
        self._audit = audit
        #: By project: between a look for room and what is added nobody else looks.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @needs(Permission.ADMINISTER)
    async def create(
        self, actor: Actor, url: str, events: frozenset[CallbackEvent], job: str | None = None
    ) -> NewCallback:
        """Tell an address of these events, of one job or of all in the project."""
        if not events:
            raise InvalidInput("is empty", field="events", hint=f"Use {', '.join(CallbackEvent)}")
        async with self._turns[actor.project]:
            return await self._create(actor, url, events, job)

    async def _create(
        self, actor: Actor, url: str, events: frozenset[CallbackEvent], job: str | None
    ) -> NewCallback:
        now, project = self._jobs.clock.now(), actor.project
        if len(await self._store.list_records(KIND, project, "", now, MOST)) >= MOST:
            raise InvalidInput(f"a project has {MOST} callbacks at most")
        found = None if job is None else (await self._jobs.get(project, job)).job.id
        callback = Callback(
            id=new_id(now, self._random),
            url=url,
            events=events,
            job=found,
            created_at=now,
            created_by=actor.name,
        )
        key = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        with naming_url():
            target = Http(url, sign_with=(f"{{{{secret.{callback.sender}}}}}",))
            await self._senders.add(
                CALLBACK, callback.id, project, target, secret=key, by=actor.name
            )
        await self._put(Record(kind=PROJECTS_KIND, project=PLATFORM, key=project, document={}))
        document = to_document(callback)
        await self._put(Record(kind=KIND, project=project, key=callback.id, document=document))
        await self._audit.record(
            actor, "callback.create", f"callback/{callback.id}", None, callback_document(callback)
        )
        return NewCallback(callback, key)

    @needs(Permission.ADMINISTER)
    async def list(self, actor: Actor) -> list[Callback]:
        """The callbacks of the project, oldest first."""
        records = every_record(self._store, KIND, actor.project, self._jobs.clock.now())
        return [from_document(record.key, record.document) async for record in records]

    @needs(Permission.ADMINISTER)
    async def delete(self, actor: Actor, id: str) -> None:
        """Tell it nothing more; what is under way is not sent any more either."""
        now, project = self._jobs.clock.now(), actor.project
        record = await self._store.get_record(KIND, project, id, now)
        if record is None or not await self._store.delete_record(KIND, project, id):
            raise NotFound("callback", id)
        callback = from_document(id, record.document)
        await self._senders.delete(CALLBACK, id, project)
        await self._audit.record(
            actor, "callback.delete", f"callback/{id}", callback_document(callback), None
        )

    async def _put(self, record: Record) -> None:
        await self._store.put_record(record, self._jobs.clock.now())
