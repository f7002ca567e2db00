"""What a store can tell about its own indexes."""

from typing import Protocol, runtime_checkable

from tickwell.ports.records import Flaw


@runtime_checkable
class Inspected(Protocol):
    """A store on a server, where others may change what it goes by."""

    async def flaws(self) -> list[Flaw]:
        """Indexes that are missing, or are not as they were made."""
        ...
