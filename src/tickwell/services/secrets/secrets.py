"""A project's secrets: written, listed by name, taken away; never read back by anybody."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tickwell.errors import Conflict, InvalidInput, NotFound
from tickwell.executors.http.response.redaction import SHORTEST as SHORTEST_REDACTED
from tickwell.executors.http.response.redaction import core
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.audit.audit import Audit
from tickwell.services.every_record import every_record
from tickwell.services.keyring import Keyring
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.secrets.envelope import rewrap, seal
from tickwell.services.secrets.hosts import read_hosts
from tickwell.services.secrets.secret import (
    KIND,
    PROJECT,
    SecretInfo,
    binding,
    check_secret_name,
    read_info,
)
from tickwell.services.time import Time

#: Characters of a value. A shorter one could not be redacted from a response.
SHORTEST = SHORTEST_REDACTED
LONGEST = 8 * 1024
#: Secrets of one project.
MOST = 1000


class Secrets:
    """Keeps values as envelopes. `source.StoredSecrets` opens them when an attempt is sent."""

    def __init__(self, store: RecordStore, clock: Time, keyring: Keyring, audit: Audit) -> None:
        self._store = store
        self._clock = clock
        self._keyring = keyring
        self._audit = audit
        #: By project: between a look for room and what is added nobody else looks.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @needs(Permission.ADMINISTER)
    async def set(
        self,
        actor: Actor,
        name: str,
        value: str | None = None,
        hosts: Sequence[str] | None = None,
    ) -> SecretInfo:
        """Add a secret, or give it another value, other hosts, or both; for attempts from now on.

        Without a value or hosts, those of a secret that exists stay.
        """
        check_secret_name(name)
        allowed = None if hosts is None else read_hosts(hosts)
        if value is None:
            return await self._limit(actor, name, allowed)
        if len(core(value)) < SHORTEST or len(value) > LONGEST:
            raise InvalidInput(
                f"a secret has {SHORTEST} to {LONGEST} characters, {SHORTEST} of them between"
                " any blanks at its ends",
                field="value",
            )
        info = await self.keep(actor.project, name, value, by=actor.name, hosts=allowed)
        after = {"version": info.version, "hosts": [*info.hosts]}
        await self._audit.record(actor, "secret.set", f"secret/{name}", after=after)
        return info

    async def _limit(self, actor: Actor, name: str, hosts: list[str] | None) -> SecretInfo:
        """Other hosts for the same value."""
        now, project = self._clock.now(), actor.project
        record = await self._store.get_record(KIND, project, name, now)
        if record is None or hosts is None:
            raise InvalidInput("a text is needed", field="value")
        before = read_info(record.document)
        record.document = record.document | {"hosts": hosts}
        if not await self._store.put_record(record, now, record.version):
            raise Conflict(f"secret {name!r} was changed at the same moment; repeat it")
        await self._audit.record(
            actor, "secret.limit", f"secret/{name}", {"hosts": [*before.hosts]}, {"hosts": hosts}
        )
        return read_info(record.document)

    async def keep(
        self,
        project: str,
        name: str,
        value: str,
        *,
        by: str,
        hosts: Sequence[str] | None = None,
    ) -> SecretInfo:
        """The same for our own use: what it is part of is audited, not this."""
        async with self._turns[project]:
            return await self._keep(project, name, value, by, hosts)

    async def _keep(
        self, project: str, name: str, value: str, by: str, hosts: Sequence[str] | None
    ) -> SecretInfo:
        now = self._clock.now()
        known = await self._store.get_record(KIND, project, name, now)
        await self._require_room(project, known, now)
        if known is None:
            # Before it is there: what nobody finds would stay under an old server key.
            await self._store.put_record(
                Record(kind=PROJECT, project=PLATFORM, key=project, document={}), now
            )
        version = known.document["version"] + 1 if known else 1
        if hosts is None:
            hosts = known.document.get("hosts", []) if known else []
        info = SecretInfo(name=name, version=version, saved_at=now, by=by, hosts=tuple(hosts))
        sealed = seal(self._keyring, value.encode(), binding(project, name, version))
        await self._put(project, info, sealed, now, known.version if known else 0)
        return info

    async def forget(self, project: str, name: str) -> bool:
        """Take one of our own away; whether it was there."""
        return await self._store.delete_record(KIND, project, name)

    @needs(Permission.ADMINISTER)
    async def delete(self, actor: Actor, name: str) -> None:
        """Take a secret away; attempts that name it fail from now on."""
        if not await self.forget(actor.project, name):
            raise NotFound("secret", name)
        await self._audit.record(actor, "secret.delete", f"secret/{name}")

    @needs(Permission.ADMINISTER)
    async def list(self, actor: Actor) -> list[SecretInfo]:
        """Names and versions, by name."""
        now = self._clock.now()
        records = every_record(self._store, KIND, actor.project, now)
        return [read_info(record.document) async for record in records]

    async def projects(self) -> Sequence[str]:
        """Those that have secrets, or had some."""
        records = every_record(self._store, PROJECT, PLATFORM, self._clock.now())
        return [record.key async for record in records]

    async def rewrap(self, project: str) -> int:
        """Put all of a project's secrets under the current server key; how many were not."""
        now, moved = self._clock.now(), 0
        async for record in every_record(self._store, KIND, project, now):
            document = record.document
            if document["sealed"]["kek"] == self._keyring.current.id:
                continue
            where = binding(project, record.key, document["version"])
            record.document = document | {
                "sealed": rewrap(self._keyring, document["sealed"], where)
            }
            if not await self._store.put_record(record, now, record.version):
                # The process that changed it meanwhile may have another current key.
                return moved + await self.rewrap(project)
            moved += 1
        return moved

    async def _require_room(self, project: str, known: Record | None, now: int) -> None:
        if known is None:
            found = await self._store.list_records(KIND, project, "", now, MOST)
            if len(found) >= MOST:
                raise InvalidInput(f"a project has {MOST} secrets at most", field="name")

    async def _put(
        self, project: str, info: SecretInfo, sealed: dict[str, Any], now: int, expected: int
    ) -> None:
        document = {
            "name": info.name,
            "version": info.version,
            "saved_at": info.saved_at,
            "by": info.by,
            "hosts": [*info.hosts],
            "sealed": sealed,
        }
        record = Record(kind=KIND, project=project, key=info.name, document=document)
        if not await self._store.put_record(record, now, expected):
            raise Conflict(f"secret {info.name!r} was changed at the same moment; repeat it")
