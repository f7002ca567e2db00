"""API keys: made, shown once, rotated, revoked."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace

from tickwell.errors import Conflict, InvalidInput, NotFound, WrongState
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.key import (
    ApiKey,
    check_new,
    digest,
    key_from_document,
    key_to_document,
    new_token,
)
from tickwell.services.access.permission import Permission, Role, permissions_of
from tickwell.services.admin.admin_documents import key_document
from tickwell.services.audit.audit import Audit
from tickwell.services.documents import instant_text
from tickwell.services.every_record import every_record
from tickwell.services.keyring import Keyring
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time

#: The key itself, in its project; which project that is; when it was last used.
KIND, PLACE, USED = "api_key", "api_key_place", "api_key_used"
MOST = 1000
#: Milliseconds that the old key still works after a rotation, unless told otherwise.
OVERLAP = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key with its secret: the only moment at which anybody sees it."""

    key: ApiKey
    token: str = field(repr=False)


class Keys:
    """The keys of a project."""

    def __init__(self, store: RecordStore, clock: Time, keyring: Keyring, audit: Audit) -> None:
        self._store = store
        self._clock = clock
        self._keyring = keyring
        self._audit = audit
        #: By project: between a look for room and what is added nobody else looks.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @needs(Permission.ADMINISTER)
    async def create(
        self,
        actor: Actor,
        name: str,
        role: Role,
        *,
        permissions: frozenset[Permission] | None = None,
        expires_at: int | None = None,
    ) -> NewKey:
        """A new key of the actor's project, which may do no more than the actor.

        Nor does it outlive the key that the actor came with: without an end, it has the same.
        """
        check_new(name, role, permissions)
        actor.require_all(permissions_of(role) if permissions is None else permissions)
        now = self._clock.now()
        if expires_at is not None and expires_at <= now:
            raise InvalidInput("is past", field="expires_at", hint="Choose a later moment")
        if expires_at is None:
            expires_at = actor.key_ends
        _require_outlived(actor, expires_at)
        life = None if expires_at is None else expires_at - now
        made = self._make(actor, name, role, now=now, narrowed=permissions, life=life)
        await self._add(made.key)
        await self._audit.record(actor, "key.create", f"key/{made.key.id}", after=_public(made.key))
        return made

    @needs(Permission.ADMINISTER)
    async def rotate(self, actor: Actor, id: str, overlap: int = OVERLAP) -> NewKey:
        """A key that takes over from another for as long, which works on for the overlap."""
        now = self._clock.now()
        record = await self._record(actor.project, id)
        old = key_from_document(actor.project, record.document)
        if old.is_over(now):
            raise WrongState("key", id, "expired", "a live one can be rotated")
        actor.require_all(old.permissions)
        _require_outlived(actor, None if old.life is None else now + old.life)
        made = self._make(
            actor,
            old.name,
            old.role,
            now=now,
            narrowed=old.narrowed,
            life=old.life,
            replaces=id,
        )
        ends = min(now + max(overlap, 0), old.expires_at or now + max(overlap, 0))
        record.document = key_to_document(replace(old, expires_at=ends))
        # The new one first: should this process die here, nobody holds a key that ends unasked.
        await self._add(made.key)
        if not await self._store.put_record(record, now, record.version):
            await self._remove(actor.project, made.key.id)
            raise Conflict(f"key {id!r} was changed at the same moment; look at it and repeat")
        await self._audit.record(
            actor, "key.rotate", f"key/{id}", before=_public(old), after=_public(made.key)
        )
        return made

    @needs(Permission.ADMINISTER)
    async def revoke(self, actor: Actor, id: str) -> None:
        """Take a key away; it is refused within seconds, everywhere."""
        record = await self._record(actor.project, id)
        await self._remove(actor.project, id)
        key = key_from_document(actor.project, record.document)
        await self._audit.record(actor, "key.revoke", f"key/{id}", before=_public(key))

    @needs(Permission.ADMINISTER)
    async def list(self, actor: Actor) -> list[tuple[ApiKey, int | None]]:
        """The keys by id, each with the instant it was last used."""
        now, project = self._clock.now(), actor.project
        used = every_record(self._store, USED, project, now)
        last = {record.key: int(record.document["at"]) async for record in used}
        found = every_record(self._store, KIND, project, now)
        keys = [key_from_document(project, record.document) async for record in found]
        return [(key, last.get(key.id)) for key in keys]

    async def peppers(self) -> set[str]:
        """The server keys that live keys of any project are checked with."""
        now, found = self._clock.now(), set()
        async for place in every_record(self._store, PLACE, PLATFORM, now):
            project = place.document["project"]
            record = await self._store.get_record(KIND, project, place.key, now)
            key = None if record is None else key_from_document(project, record.document)
            if key is not None and not key.is_over(now):
                found.add(key.pepper)
        return found

    @needs(Permission.READ)
    async def name_of(self, actor: Actor, id: str) -> str | None:
        """What a key of the project is called; None when it is gone."""
        record = await self._store.get_record(KIND, actor.project, id, self._clock.now())
        return None if record is None else str(record.document["name"])

    def _make(
        self,
        actor: Actor,
        name: str,
        role: Role,
        *,
        now: int,
        narrowed: frozenset[Permission] | None,
        life: int | None,
        replaces: str | None = None,
    ) -> NewKey:
        token, pepper = new_token(), self._keyring.current.id
        key = ApiKey(
            id=token.id,
            project=actor.project,
            name=name,
            role=role,
            narrowed=narrowed,
            created_at=now,
            created_by=actor.name,
            expires_at=None if life is None else now + life,
            life=life,
            replaces=replaces,
            pepper=pepper,
            digest=digest(self._keyring, pepper, token) or "",
        )
        return NewKey(key, token.text)

    async def _record(self, project: str, id: str) -> Record:
        record = await self._store.get_record(KIND, project, id, self._clock.now())
        if record is None:
            raise NotFound("key", id)
        return record

    async def _add(self, key: ApiKey) -> None:
        now, project = self._clock.now(), key.project
        record = Record(kind=KIND, project=project, key=key.id, document=key_to_document(key))
        place = Record(kind=PLACE, project=PLATFORM, key=key.id, document={"project": project})
        async with self._turns[project]:
            await self._make_room(project, now)
            await self._store.put_record(record, now)
            await self._store.put_record(place, now)

    async def _make_room(self, project: str, now: int) -> None:
        """Where there are as many as there may be, those that have ended go."""
        records = await self._store.list_records(KIND, project, "", now, MOST)
        if len(records) < MOST:
            return
        keys = [key_from_document(project, record.document) for record in records]
        ended = [key.id for key in keys if key.is_over(now)]
        if not ended:
            raise InvalidInput(f"a project has {MOST} keys at most", hint="Revoke some")
        for id in ended:
            await self._remove(project, id)

    async def _remove(self, project: str, id: str) -> None:
        """The key first: without it the rest means nothing."""
        await self._store.delete_record(KIND, project, id)
        await self._store.delete_record(PLACE, PLATFORM, id)
        await self._store.delete_record(USED, project, id)


def _require_outlived(actor: Actor, expires_at: int | None) -> None:
    """Else a key that was stolen for an hour would be stolen for ever."""
    ends = actor.key_ends
    if ends is not None and (expires_at is None or expires_at > ends):
        raise InvalidInput(
            f"a key that ends at {instant_text(ends)} cannot make one that outlives it",
            field="expires_at",
            hint="Choose an earlier end, or log in, or use a key that ends later",
        )


def _public(key: ApiKey) -> dict[str, object]:
    document = key_document(key, None)
    return {name: document[name] for name in document if name != "last_used_at"}
