"""Wake-ups between processes: a change stream over one small collection.

A writer rings by changing one document, at a bounded rate; other processes watch that document
only. A standalone server has no change streams: processes poll the document.
"""

from __future__ import annotations

import asyncio

from tickwell.stores.bell import Bell as AnyBell
from tickwell.stores.event_wait import comes
from tickwell.stores.mongo.database import Database
from tickwell.stores.mongo.errors import DRIVER
from tickwell.stores.notification_status import NotificationStatus

#: Seconds between polls without a change stream, and until the next try to open one.
POLL = 1.0
AGAIN = 10.0


class Bell(AnyBell):
    """Changes one document."""

    trouble = DRIVER

    def __init__(self, database: Database, sender: str) -> None:
        super().__init__()
        self.database = database
        self.sender = sender
        #: How often it was rung by this process, as far as the server has answered.
        self.rings = 0

    async def send(self) -> None:
        await self.database.bell.update_one(
            {"_id": "bell"}, {"$set": {"by": self.sender}, "$inc": {"rings": 1}}, upsert=True
        )
        self.rings += 1


class Ear:
    """Listens for the bells of other processes; falls back to polling."""

    def __init__(self, database: Database, bell: Bell) -> None:
        self.database = database
        self.bell = bell
        self._heard = asyncio.Event()
        self._closed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        #: Whether notifications arrive.
        self.hears = False
        self._deaf_until = 0.0
        self._hearing = NotificationStatus(POLL)
        #: The rings of other processes at the last poll.
        self._others: int | None = None

    async def changed(self, seconds: float) -> bool:
        """Wait for another process's bell; without a change stream, poll for it."""
        if self._closed.is_set():
            return False
        if not self._listens():
            await comes(self._closed, min(seconds, POLL))
            return not self._closed.is_set() and await self._was_rung()
        heard = await comes(self._heard, seconds)
        self._heard.clear()
        return heard and not self._closed.is_set()

    async def _was_rung(self) -> bool:
        """Whether another process has rung since the last poll; true if that is unknown."""
        own, before = self.bell.rings, self._others
        try:
            found = await self.database.bell.find_one({"_id": "bell"}, {"rings": 1})
        except DRIVER:
            return True
        # A ring of our own that is being sent may wake us once for nothing.
        self._others = (found or {}).get("rings", 0) - own
        return self._others != before

    async def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        self._heard.set()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _listens(self) -> bool:
        if self._task is not None and not self._task.done():
            return True
        loop = asyncio.get_running_loop()
        if loop.time() < self._deaf_until:
            return False
        if self.database.is_replicated:
            self._task = loop.create_task(self._listen())
            return True
        self._be_deaf("a standalone server has no change streams", float("inf"))
        return False

    def _be_deaf(self, why: str, seconds: float) -> None:
        self._deaf_until = asyncio.get_running_loop().time() + seconds
        self._hearing.is_lost(self.database.location.name, why)

    async def _listen(self) -> None:
        try:
            async with await self.database.bell.watch(full_document="updateLookup") as stream:
                self.hears = True
                self._hearing.is_back(self.database.location.name)
                self._heard.set()  # writes since the loops last looked were missed
                async for change in stream:
                    if (change.get("fullDocument") or {}).get("by") != self.bell.sender:
                        self._heard.set()
        except DRIVER as error:
            self._be_deaf(str(error), AGAIN)
        finally:
            self.hears = False
            self._heard.set()  # something may have been missed
