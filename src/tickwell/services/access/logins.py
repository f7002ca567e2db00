"""Logging in: by password or by link, slowly for those who guess."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from typing import NoReturn

from tickwell.errors import LimitReached, Unauthenticated
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor
from tickwell.services.access.directory import Directory
from tickwell.services.access.passwords import Passwords
from tickwell.services.access.sessions import Sessions
from tickwell.services.access.user import User
from tickwell.services.audit.audit import Audit
from tickwell.services.limits.request_limits import Buckets, Rate, network_of
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


#: Tries for one name, and from one address.
PER_NAME, PER_ADDRESS = Rate(10, 15 * 60_000), Rate(30, 15 * 60_000)
#: The same, whatever was wrong.
REFUSED = "wrong name, password or link; ask an admin for a new link"


class Logins:
    """Turns what a person shows into a session."""

    def __init__(
        self,
        clock: Time,
        directory: Directory,
        passwords: Passwords,
        *,
        sessions: Sessions,
        links: Links,
        audit: Audit,
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._passwords = passwords
        self._sessions = sessions
        self._links = links
        self._audit = audit
        self._names = Buckets(PER_NAME)
        self._addresses = Buckets(PER_ADDRESS)

    async def by_password(
        self, name: str, password: str, *, asker: Actor, old: str | None = None
    ) -> str:
        """The id of a new session; `old` is the one that the browser had."""
        name = name.strip().lower()[:200]
        self.throttle(asker.address, name)
        user = await self._directory.read(name)
        # Whether the user exists or may log in is asked only after the same work.
        matches = await self._passwords.matches(user.password if user else None, password)
        if user is None or not matches or user.disabled:
            return await self._turn_away(user, asker, "password")
        if self._passwords.is_outdated(user.password or ""):
            hashed = await self._passwords.hash(password)
            await self._directory.change(name, lambda known: replace(known, password=hashed))
        return await self._open(user, asker, old, "password")

    async def by_link(self, token: str, *, asker: Actor, old: str | None = None) -> str:
        """The id of a new session; the link is used up."""
        self.throttle(asker.address)
        name, generation = await self._links.take(token) or (None, None)
        user = await self._directory.read(name) if name else None
        # A link is as good as a session: what ends those ends it too.
        if user is None or user.disabled or user.generation != generation:
            return await self._turn_away(user, asker, "link")
        return await self._open(user, asker, old, "link")

    async def for_user(self, user: User, *, asker: Actor, old: str | None, how: str) -> str:
        """The id of a new session for somebody that another issuer vouches for."""
        if user.disabled:
            return await self._turn_away(user, asker, how)
        return await self._open(user, asker, old, how)

    async def log_out(self, id: str, *, asker: Actor) -> bool:
        """End a session; whether there was one."""
        user = await self._sessions.find(id)
        if not await self._sessions.end(id) or user is None:
            return False
        actor = _known(user, asker)
        await self._audit.record(actor, "session.end", f"user/{user.name}")
        return True

    async def _open(self, user: User, asker: Actor, old: str | None, how: str) -> str:
        id = await self._sessions.open(user, old)
        actor = _known(user, asker)
        await self._audit.record(actor, "session.open", f"user/{user.name}", None, {"by": how})
        return id

    async def _turn_away(self, user: User | None, asker: Actor, how: str) -> NoReturn:
        """Put it on record; what stands for an unknown name may be a password, and is left out."""
        subject = f"user/{user.name}" if user else "user"
        await self._audit.record(asker, "session.refused", subject, None, {"by": how})
        raise Unauthenticated(REFUSED)

    def throttle(self, address: str, name: str = "") -> None:
        """Refuse a try where there were too many, from an address or for a name."""
        now = self._clock.now()
        asked = [self._addresses.take(network_of(address), now)]
        asked += [self._names.take(name, now)] if name else []
        waits = [taken.reset for taken in asked if not taken.allowed]
        if waits:
            raise LimitReached(
                "too many tries to log in", retry_after=max(waits), hint="Try again later"
            )


def _known(user: User, asker: Actor) -> Actor:
    return replace(asker, name=f"user:{user.name}")
