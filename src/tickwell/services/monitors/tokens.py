"""Tokens of ping URLs: shown once, stored as hashes, and rotated.

A monitor has one, in the form of a UUID; a project has a ping key, which names its monitors by
their names. Both are found by their hash alone, so how long a look takes says nothing about them.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from tickwell.errors import Conflict
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.every_record import every_record
from tickwell.services.projects.platform import PLATFORM

#: By the hash of a token: what it is for. By what it is for: the hashes that are valid.
TOKEN, OWNER = "ping_token", "ping_tokens"
#: The owner of a project's ping key; ids of jobs are its other owners.
PING_KEY = "ping-key"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ALPHABET = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True, slots=True)
class Owner:
    """What a token is for: a job of a project, or with its ping key all monitors."""

    project: str
    #: The id of a job, or `PING_KEY`.
    key: str


def is_uuid(text: str) -> bool:
    """Whether it has the form of a monitor's token."""
    return _UUID.fullmatch(text) is not None


def new_token() -> str:
    """A token of a monitor: 122 random bits."""
    return str(UUID(bytes=secrets.token_bytes(16), version=4))


def new_ping_key() -> str:
    """A key of a project: 22 letters and digits, 127 random bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(22))


class Tokens:
    """Issues tokens and finds what they are for."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        #: Hashes of tokens that were valid when this process last looked.
        self._valid: set[str] = set()

    async def find(self, token: str, now: int) -> Owner | None:
        """What a token is for; None: it is not valid."""
        record = await self._store.get_record(TOKEN, PLATFORM, _hash(token.lower()), now)
        if record is None:
            record = await self._store.get_record(TOKEN, PLATFORM, _hash(token), now)
        if record is None:
            self._valid.discard(_hash(token))
            return None
        if len(self._valid) >= _MOST_VALID:
            self._valid.clear()
        self._valid.add(_hash(token))
        return Owner(**record.document)

    def was_valid(self, token: str) -> bool:
        """Whether it was valid when this process last looked."""
        return _hash(token) in self._valid

    async def issue(self, owner: Owner, token: str, now: int) -> None:
        """Make this the only valid token of its owner; raises `Conflict` if another was faster.

        The new one is valid before the old one is not. A crash in between leaves both, and the
        next rotation ends both.
        """
        known = await self._store.get_record(OWNER, owner.project, owner.key, now)
        before = [] if known is None else list(known.document["hashes"])
        hashed = _hash(token)
        document = {"project": owner.project, "key": owner.key}
        await self._store.put_record(
            Record(kind=TOKEN, project=PLATFORM, key=hashed, document=document), now
        )
        record = Record(
            kind=OWNER,
            project=owner.project,
            key=owner.key,
            document={"hashes": [hashed, *before][:_MOST], "at": now},
        )
        version = 0 if known is None else known.version
        if not await self._store.put_record(record, now, version):
            await self._store.delete_record(TOKEN, PLATFORM, hashed)
            raise Conflict("the ping URL was rotated by another request; read it again")
        for old in before:
            await self._store.delete_record(TOKEN, PLATFORM, old)

    async def forget(self, project: str, now: int) -> None:
        """Take away all tokens of a project."""
        async for owner in every_record(self._store, OWNER, project, now):
            for hashed in owner.document["hashes"]:
                await self._store.delete_record(TOKEN, PLATFORM, hashed)
            await self._store.delete_record(OWNER, project, owner.key)

    async def is_issued(self, owner: Owner, now: int) -> bool:
        """Whether it has one."""
        return await self._store.get_record(OWNER, owner.project, owner.key, now) is not None


#: Hashes that an owner's record remembers: one is valid, the others are what crashes left.
_MOST = 10
#: Valid tokens that a process remembers.
_MOST_VALID = 50_000


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()
