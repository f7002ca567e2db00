"""Login links: good once, for a short time."""

from __future__ import annotations

import hashlib
import secrets

from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.user import User
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time

KIND = "login_link"
#: Milliseconds that a link is good for.
LIFE = 15 * 60_000


class Links:
    """Makes and takes links. Only a hash of their token is stored."""

    def __init__(self, store: RecordStore, clock: Time) -> None:
        self._store = store
        self._clock = clock

    async def make(self, user: User, life: int = LIFE) -> str:
        """The token of a new link that logs this user in, unless their sessions end before."""
        token, now = secrets.token_urlsafe(32), self._clock.now()
        record = Record(
            kind=KIND,
            project=PLATFORM,
            key=_hash(token),
            document={"user": user.name, "generation": user.generation},
            expires_at=now + life,
        )
        await self._store.put_record(record, now)
        return token

    async def take(self, token: str) -> tuple[str, int] | None:
        """The user of a link that nobody has used, and of which generation; now it is used."""
        hashed = _hash(token)
        record = await self._store.get_record(KIND, PLATFORM, hashed, self._clock.now())
        if record is None or not await self._store.delete_record(KIND, PLATFORM, hashed):
            return None  # of two at once the store gives it to one
        return record.document["user"], record.document.get("generation", -1)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
