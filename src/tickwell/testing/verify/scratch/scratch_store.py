"""The interface of a scratch store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlunsplit

from tickwell.domain.job import Job
from tickwell.domain.store_url import split_store_url

#: Makes a definition readable again.
Mend = Callable[[], Awaitable[None]]
#: A definition that no Tickwell of today can read.
UNREADABLE = '{"from": "a newer version"}'


class ScratchStore(ABC):
    """A store that only the verification uses."""

    #: How a store there is opened; `empty` may change it.
    url: str
    #: What it is, for people; without credentials.
    name: str

    @abstractmethod
    async def empty(self) -> None:
        """Delete all data; nothing may have the store open."""

    @abstractmethod
    async def drop(self) -> None:
        """Remove the store, whether it exists or not."""

    @abstractmethod
    async def corrupt(self, store: Any, job: Job) -> Mend:
        """Make a stored definition unreadable; `store` is open on this scratch store."""


class DocumentScratch(ScratchStore):
    """A scratch store whose definitions are documents."""

    @abstractmethod
    async def swap(self, job: str, document: str) -> str:
        """Replace the stored definition of a job; return the former one."""

    async def corrupt(self, store: Any, job: Job) -> Mend:
        """Make a stored definition unreadable."""
        before = await self.swap(job.id, UNREADABLE)

        async def mend() -> None:
            await self.swap(job.id, before)

        return mend


def with_option(url: str, name: str, value: str) -> str:
    """The URL with one option set."""
    parts = split_store_url(url)
    options = [each for each in parse_qsl(parts.query, keep_blank_values=True) if each[0] != name]
    return urlunsplit(parts._replace(query=urlencode([*options, (name, value)])))
