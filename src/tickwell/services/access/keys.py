"""API keys: made, shown once, rotated, revoked."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import defaultdict
from dataclasses import dataclass, field, replace

from tickwell.errors import Conflict, InvalidInput, NotFound, WrongState
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, Permission, Role, needs, permissions_of
from tickwell.services.access.key import (
    ApiKey,
    KeyToken,
    check_new,
    digest,
    key_from_document,
    key_to_document,
    new_token,
    read_token,
)
from tickwell.services.admin.admin_documents import key_document
from tickwell.services.audit.audit import Audit
from tickwell.services.documents import instant_text
from tickwell.services.every_record import every_record
from tickwell.services.keyring import Keyring
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache

#: The key itself, in its project; which project that is; when it was last used.
KIND, OWNER_KIND, USED = "api_key", "api_key_place", "api_key_used"
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
        async for owner in every_record(self._store, OWNER_KIND, PLATFORM, now):
            project = owner.document["project"]
            record = await self._store.get_record(KIND, project, owner.key, now)
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
        owner = Record(kind=OWNER_KIND, project=PLATFORM, key=key.id, document={"project": project})
        async with self._turns[project]:
            await self._make_room(project, now)
            await self._store.put_record(record, now)
            await self._store.put_record(owner, now)

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
        await self._store.delete_record(OWNER_KIND, PLATFORM, id)
        await self._store.delete_record(USED, project, id)


def _require_outlived(actor: Actor, expires_at: int | None) -> None:
    """Else a key that was stolen for an hour would be stolen for ever."""
    ends = actor.key_ends
    if ends is not None and (expires_at is None or expires_at > ends):
        raise InvalidInput(
            f"a key that ends at {instant_text(ends)} cannot create one that ends later",
            field="expires_at",
            hint="Choose an earlier end, or log in, or use a key that ends later",
        )


def _public(key: ApiKey) -> dict[str, object]:
    document = key_document(key, None)
    return {name: document[name] for name in document if name != "last_used_at"}


#: Milliseconds between two notes of when a key was last used.
NOTED = 60_000
MOST_NOTED = 10_000


class KeyCheck:
    """Compares; a wrong secret and an unknown id take the same way."""

    def __init__(self, store: RecordStore, clock: Time, keyring: Keyring) -> None:
        self._store = store
        self._clock = clock
        self._keyring = keyring
        self._cache: TtlCache[str, ApiKey | None] = TtlCache(clock)
        self._noted: dict[str, int] = {}
        self._nobody = secrets.token_hex(32)

    async def find(self, text: str) -> ApiKey | None:
        """The key, if this is one and it is live."""
        token = read_token(text)
        if token is None:
            return None
        key = await self._cache.get(token.id, lambda: self._read(token.id))
        if not self._matches(key, token) or key is None or key.is_over(self._clock.now()):
            return None
        await self._note(key, token)
        return key

    async def _read(self, id: str) -> ApiKey | None:
        now = self._clock.now()
        owner = await self._store.get_record(OWNER_KIND, PLATFORM, id, now)
        # An unknown id is looked for as well, where nothing is: it takes as long as a known one.
        project = owner.document["project"] if owner else PLATFORM
        record = await self._store.get_record(KIND, project, id, now)
        return None if record is None else key_from_document(project, record.document)

    def _matches(self, key: ApiKey | None, token: KeyToken) -> bool:
        pepper = key.pepper if key else self._keyring.current.id
        digested = digest(self._keyring, pepper, token)
        return hmac.compare_digest(digested or self._nobody, key.digest if key else "0" * 64)

    async def _note(self, key: ApiKey, token: KeyToken) -> None:
        now = self._clock.now()
        if now - self._noted.get(key.id, 0) < NOTED:
            return
        if len(self._noted) >= MOST_NOTED:
            self._noted.clear()
        self._noted[key.id] = now
        record = Record(kind=USED, project=key.project, key=key.id, document={"at": now})
        await self._store.put_record(record, now)
        if key.pepper != self._keyring.current.id:
            await self._follow(key, token, now)

    async def _follow(self, key: ApiKey, token: KeyToken, now: int) -> None:
        """Put a digest with the current server key in the place of the old one."""
        record = await self._store.get_record(KIND, key.project, key.id, now)
        if record is not None:
            pepper = self._keyring.current.id
            made = digest(self._keyring, pepper, token)
            record.document = record.document | {"pepper": pepper, "digest": made}
            # Not if somebody rotates or revokes it meanwhile: there is a next time.
            await self._store.put_record(record, now, record.version)
