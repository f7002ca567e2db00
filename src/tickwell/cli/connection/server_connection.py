"""Commands on a server, over HTTP."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, cast

from tickwell.cli.connection.connection import Connection, Document
from tickwell.client.asynchronous import AsyncClient
from tickwell.clock import StoreClock, wall_millis
from tickwell.errors import Forbidden, InvalidInput, NotFound


class ServerConnection(Connection):
    """The API key identifies the caller and its project."""

    def __init__(self, server: str, key: str, project: str | None) -> None:
        self._server, self._key, self._project = server, key, project
        self.client: AsyncClient = AsyncClient(server, key=key, project=project)
        self._clock = StoreClock()

    async def now(self) -> int:
        if self.client.server_now() is None:
            await self.client.alive()
        found = self.client.server_now()
        return wall_millis() if found is None else found

    async def project(self) -> str:
        return self._project or (await self.client.get_session())["project"]

    async def wait(self, seconds: float) -> None:
        await self._clock.wait(asyncio.Event(), seconds)

    def allow_local(self) -> None:
        raise InvalidInput(
            "a server's own setting decides where its webhooks may go",
            field="allow_local",
            hint="Start it with: tickwell serve --allow-local",
        )

    async def doctor(self, *, fix: bool) -> list[Document]:
        if fix:
            raise InvalidInput(
                "cannot repair a store through a server",
                field="fix",
                hint="Run tickwell doctor --fix --store … where the store is",
            )
        health = await self.client.health_details()
        if health["database"] != "connected":
            return _documents(health["findings"])
        return _documents((await self.client.checkup())["items"])

    async def key(self, job: str) -> str:
        """An address cannot hold a name with a slash: its id is looked up."""
        if "/" not in job and job not in {".", ".."}:
            return job
        async for each in self.client.iter_jobs(search=job):
            if each["name"] == job:
                return each["id"]
        raise NotFound("job", job)

    async def close(self) -> None:
        await self.client.close()

    async def appoint_admin(self, name: str) -> bool:
        """A platform admin who is not a member sees no project, and may give it an admin."""
        if self._project is None:
            return False
        with suppress(Forbidden):
            async with AsyncClient(self._server, key=self._key) as outside:
                await outside.appoint_admin(self._project, name)
            return True
        return False


def _documents(found: Any) -> list[Document]:
    return cast("list[Document]", found)
