"""Users in the store: read, changed, counted as members of their projects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from tickwell.errors import Conflict, NotFound
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.user import User, user_from_document, user_to_document
from tickwell.services.every_record import every_record
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache

#: The user, of the platform; that a user is a member, in the project.
KIND, MEMBER = "user", "member"
#: Times that a change is tried anew when somebody else was quicker.
_PATIENCE = 20
MOST = 10_000
#: What names of users are made of, those from other issuers too.
_SIGNS = "".join(map(chr, range(ord("!"), ord("~") + 1)))


class Directory:
    """What is written about users, without asking who writes."""

    def __init__(self, store: RecordStore, clock: Time) -> None:
        self._store = store
        self._clock = clock
        self._cache: TtlCache[str, User | None] = TtlCache(clock)

    async def find(self, name: str) -> User | None:
        """The user as of a few seconds ago, for authentication."""
        return await self._cache.get(name, lambda: self.read(name))

    async def read(self, name: str) -> User | None:
        """The user as of now."""
        record = await self._record(name)
        return None if record is None else user_from_document(record.document)

    async def add(self, user: User) -> bool:
        """Write a new user; False when the name is taken."""
        return await self._put(user, 0)

    async def change(self, name: str, change: Callable[[User], User]) -> tuple[User, User]:
        """Apply a change to what is stored now; the user before and after.

        An invited user who has no role left is gone with that: in the same write, so that a role
        that another request gives at the same moment is not lost.
        """
        for _ in range(_PATIENCE):
            record = await self._record(name)
            if record is None:
                break
            before = user_from_document(record.document)
            after = change(before)
            if after == before or await self._put(after, record.version):
                await self._index(before, after)
                self._cache.forget(name)
                return before, after
        else:
            raise Conflict(f"user {name!r} is being changed by others; try again")
        raise NotFound("user", name)

    async def remove(self, name: str) -> User | None:
        """Forget a user; who it was."""
        user = await self.read(name)
        if user is None or not await self._store.delete_record(KIND, PLATFORM, name):
            return None
        self._cache.forget(name)
        for project in user.roles:
            await self._store.delete_record(MEMBER, project, name)
        return user

    async def note_arrival(self, user: User) -> User:
        """They were here: they stay known when their last role goes.

        Else any admin of a project could invite them anew, into a project of their choice, and
        their programs would follow, which name none.
        """
        if not user.invited:
            return user
        return (await self.change(user.name, lambda known: replace(known, invited=False)))[1]

    async def everybody(self) -> AsyncIterator[User]:
        """All users, however many there are, by name."""
        now = self._clock.now()
        async for record in every_record(self._store, KIND, PLATFORM, now, signs=_SIGNS):
            yield user_from_document(record.document)

    async def members(self, project: str) -> list[User]:
        """The users that are members of a project, by name."""
        records = await self._store.list_records(MEMBER, project, "", self._clock.now(), MOST)
        users = [await self.read(record.key) for record in records]
        # What stands in the user counts; the list of a project may be a crash behind.
        return [user for user in users if user is not None and project in user.roles]

    async def count_members(self, project: str, most: int) -> int:
        """How many there are; counting ends at `most`."""
        return len(await self._store.list_records(MEMBER, project, "", self._clock.now(), most))

    async def _record(self, name: str) -> Record | None:
        return await self._store.get_record(KIND, PLATFORM, name, self._clock.now())

    async def _put(self, user: User, expected: int) -> bool:
        document = user_to_document(user)
        record = Record(kind=KIND, project=PLATFORM, key=user.name, document=document)
        if user.invited and not user.roles and not user.platform:
            record.expires_at = self._clock.now()
        if not expected:
            # Listed before it counts: a member that nobody sees would be worse.
            await self._index(User(name=user.name), user)
        return await self._store.put_record(record, self._clock.now(), expected)

    async def _index(self, before: User, after: User) -> None:
        for project in after.roles.keys() - before.roles.keys():
            record = Record(kind=MEMBER, project=project, key=after.name, document={})
            await self._store.put_record(record, self._clock.now())
        for project in before.roles.keys() - after.roles.keys():
            await self._store.delete_record(MEMBER, project, after.name)
