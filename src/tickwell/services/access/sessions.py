"""Sessions: an opaque id in a cookie, everything else here; only its hash is stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.directory import Directory
from tickwell.services.access.user import User
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache

KIND = "session"
#: Milliseconds without a request, and in all, after which one logs in again.
IDLE, ABSOLUTE = 12 * 3_600_000, 7 * 86_400_000
#: Milliseconds between two notes that a session is in use.
NOTED = 60_000


class Sessions:
    """Opens, finds and ends sessions."""

    def __init__(self, store: RecordStore, clock: Time, directory: Directory) -> None:
        self._store = store
        self._clock = clock
        self._directory = directory
        self._cache: TtlCache[str, Record | None] = TtlCache(clock)

    async def open(self, user: User, instead_of: str | None = None) -> str:
        """The id of a new session; the one that the browser had before ends."""
        if instead_of:
            await self.end(instead_of)
        id, now = secrets.token_urlsafe(32), self._clock.now()
        document = {"user": user.name, "generation": user.generation, "created_at": now}
        await self._store.put_record(_record(_hash(id), document | {"seen_at": now}), now)
        return id

    async def find(self, id: str) -> User | None:
        """The user of a live session."""
        hashed = _hash(id)
        record = await self._cache.get(hashed, lambda: self._read(hashed))
        if record is None:
            return None
        session = record.document
        user = await self._directory.find(session["user"])
        if user is None or user.disabled or user.generation != session["generation"]:
            return None
        now = self._clock.now()
        if now - session["seen_at"] >= NOTED:
            # Only what is still there: one that has just logged out stays so.
            seen = _record(hashed, session | {"seen_at": now})
            await self._store.put_record(seen, now, record.version)
            self._cache.forget(hashed)
        return user

    async def end(self, id: str) -> bool:
        """Log out; whether there was such a session."""
        hashed = _hash(id)
        self._cache.forget(hashed)
        return await self._store.delete_record(KIND, PLATFORM, hashed)

    async def _read(self, hashed: str) -> Record | None:
        return await self._store.get_record(KIND, PLATFORM, hashed, self._clock.now())


def _record(hashed: str, document: dict[str, Any]) -> Record:
    expires = min(document["seen_at"] + IDLE, document["created_at"] + ABSOLUTE)
    return Record(kind=KIND, project=PLATFORM, key=hashed, document=document, expires_at=expires)


def csrf_token(id: str) -> str:
    """Goes into forms: only a page that was made for this session knows it."""
    return hmac.new(id.encode(), b"tickwell:csrf", hashlib.sha256).hexdigest()


def _hash(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()
