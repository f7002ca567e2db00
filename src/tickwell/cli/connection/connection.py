"""What commands talk to: the operations, in process on a store or over HTTP on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tickwell.client.base import BaseClient

Document = dict[str, Any]


class Connection(ABC):
    """A client of the operations, and the little that differs between a store and a server.

    Nothing is opened before the first call, and `close` may come without one.
    """

    #: Every operation is a method of it, whichever side carries it out.
    client: BaseClient

    @abstractmethod
    async def now(self) -> int:
        """The time of the store or the server, never of this machine."""

    @abstractmethod
    async def project(self) -> str:
        """The project that commands work in."""

    @abstractmethod
    async def wait(self, seconds: float) -> None:
        """Wait until something may have changed, or for this long."""

    @abstractmethod
    def allow_local(self) -> None:
        """Let webhooks of new jobs call this machine, as `serve --allow-local` does."""

    @abstractmethod
    async def doctor(self, *, fix: bool) -> list[Document]:
        """All findings; `fix` repairs what can be repaired."""

    async def key(self, job: str) -> str:
        """What names a job in a call."""
        return job

    async def appoint_admin(self, name: str) -> bool:
        """Make a user an admin of a project whose members the caller cannot see."""
        return False

    @abstractmethod
    async def close(self) -> None:
        """Close connections."""
