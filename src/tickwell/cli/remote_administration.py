"""What is administered over the API of a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from tickwell.cli.administration import Document
from tickwell.client.asynchronous import AsyncClient


@dataclass(frozen=True, slots=True)
class RemoteAdministration:
    """`tickwell.cli.administration.Administration`, by operations of the client."""

    client: AsyncClient
    server: str

    async def users_link(self, name: str) -> Document:
        token = (await self.client.make_login_link(name))["link"]
        return {"link": f"{self.server}/login?link={token}"}

    async def projects_add(self, name: str, *, title: str) -> Document:
        made = await self.client.create_project(name, title=title)
        return {"name": made["name"], "title": made["title"]}

    async def secrets_list(self) -> Document:
        return _document(await self.client.list_secrets())

    async def secrets_set(self, name: str, value: str) -> Document:
        return _document(await self.client.set_secret(name, value))

    async def secrets_delete(self, name: str) -> None:
        await self.client.delete_secret(name)

    async def keys_list(self) -> Document:
        return _document(await self.client.list_keys())

    async def keys_add(self, name: str, role: str) -> Document:
        return _document(await self.client.create_key(name, role))

    async def keys_revoke(self, id: str) -> None:
        await self.client.revoke_key(id)


def _document(typed: Any) -> Document:
    return cast("Document", typed)
