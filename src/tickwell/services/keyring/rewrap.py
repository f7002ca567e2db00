"""After a new server key: everything that is sealed goes under it, without being opened."""

from __future__ import annotations

from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.access.issuer import Issuer
from tickwell.services.access.keys import Keys
from tickwell.services.audit.audit import Audit
from tickwell.services.keyring import Keyring
from tickwell.services.keyring.source import retire_keys
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.secrets.secrets import Secrets
from tickwell.services.time import Time


class Rewrapping:
    """May be run at any time, by any process, as often as one likes."""

    def __init__(
        self,
        store: RecordStore,
        clock: Time,
        keyring: Keyring,
        *,
        keys: Keys,
        secrets: Secrets,
        issuer: Issuer,
        audit: Audit,
    ) -> None:
        self._store = store
        self._clock = clock
        self._keyring = keyring
        self._keys = keys
        self._secrets = secrets
        self._issuer = issuer
        self._audit = audit

    @needs(Permission.PLATFORM)
    async def run(self, actor: Actor) -> int:
        """Rewrap what is under another key than the current one; how many those were.

        A key that nothing needs after that may be taken away.
        """
        current = self._keyring.current.id
        after = {"server_key": current}
        # First: what is broken off after some of them is on record too.
        await self._audit.record(actor, "platform.rewrap", "secrets", None, after, project=PLATFORM)
        moved = await self._issuer.rewrap()
        for project in await self._secrets.projects():
            moved += await self._secrets.rewrap(project)
        needed = await self._keys.peppers()
        await retire_keys(self._store, current, needed, self._clock.now())
        return moved
