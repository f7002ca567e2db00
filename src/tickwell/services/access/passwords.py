"""Passwords: argon2id, in threads, few at once because each takes 64 MiB for a moment."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING

from tickwell.errors import InvalidInput

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 12, 1024
#: Hashes under way at once in one process.
AT_ONCE = 2


class Passwords:
    """Makes and checks hashes. An unknown user costs as much as a known one."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or _default()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._nobody: str | None = None

    async def hash(self, password: str, field: str = "password") -> str:
        """What is stored; refused when it is too short to be safe."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise InvalidInput(
                f"a password has {SHORTEST} to {LONGEST} characters",
                field=field,
                hint="A few words that only you would put together are best",
            )
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def matches(self, stored: str | None, password: str) -> bool:
        """Whether it is the one; None is nobody's, and takes as long."""
        known = stored is not None
        async with self._slots:
            if self._nobody is None:
                self._nobody = await asyncio.to_thread(self._hasher.hash, "the password of no user")
            hashed = self._nobody if stored is None else stored
            found = await asyncio.to_thread(self._verify, hashed, password[:LONGEST])
        return found and known

    def is_outdated(self, stored: str) -> bool:
        """Whether it was made with weaker parameters than are used now."""
        return self._hasher.check_needs_rehash(stored)

    def _verify(self, hashed: str, password: str) -> bool:
        from argon2.exceptions import VerificationError  # noqa: PLC0415  # an extra

        try:
            return self._hasher.verify(hashed, password)
        except VerificationError:
            return False


@cache
def _default() -> PasswordHasher:
    from argon2 import PasswordHasher  # noqa: PLC0415  # an extra

    return PasswordHasher()
