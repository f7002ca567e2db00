"""Who an API key is: without a call to the store for one that was seen a moment ago."""

from __future__ import annotations

import hmac
import secrets

from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.key import ApiKey, KeyToken, digest, key_from_document, read_token
from tickwell.services.access.keys import KIND, PLACE, USED
from tickwell.services.keyring import Keyring
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time
from tickwell.services.ttl_cache import Recall

#: Milliseconds between two notes of when a key was last used.
NOTED = 60_000
MOST_NOTED = 10_000


class KeyCheck:
    """Compares; a wrong secret and an unknown id take the same way."""

    def __init__(self, store: RecordStore, clock: Time, keyring: Keyring) -> None:
        self._store = store
        self._clock = clock
        self._keyring = keyring
        self._recall: Recall[str, ApiKey | None] = Recall(clock)
        self._noted: dict[str, int] = {}
        self._nobody = secrets.token_hex(32)

    async def find(self, text: str) -> ApiKey | None:
        """The key, if this is one and it is live."""
        token = read_token(text)
        if token is None:
            return None
        key = await self._recall.get(token.id, lambda: self._read(token.id))
        if not self._matches(key, token) or key is None or key.is_over(self._clock.now()):
            return None
        await self._note(key, token)
        return key

    async def _read(self, id: str) -> ApiKey | None:
        now = self._clock.now()
        place = await self._store.get_record(PLACE, PLATFORM, id, now)
        # An unknown id is looked for as well, where nothing is: it takes as long as a known one.
        project = place.document["project"] if place else PLATFORM
        record = await self._store.get_record(KIND, project, id, now)
        return None if record is None else key_from_document(project, record.document)

    def _matches(self, key: ApiKey | None, token: KeyToken) -> bool:
        pepper = key.pepper if key else self._keyring.current.id
        given = digest(self._keyring, pepper, token)
        return hmac.compare_digest(given or self._nobody, key.digest if key else "0" * 64)

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
