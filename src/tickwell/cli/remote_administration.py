"""What is administered over the API of a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

from tickwell.cli.administration import Document
from tickwell.client.asynchronous import AsyncClient
from tickwell.errors import Forbidden, NotFound
from tickwell.services.access.permission import Role
from tickwell.services.documents import instant_text


@dataclass(frozen=True, slots=True)
class RemoteAdministration:
    """`tickwell.cli.administration.Administration`, by operations of the client."""

    client: AsyncClient
    server: str
    project: str | None
    key: str = field(repr=False)

    async def users_list(self) -> Document:
        return _document(await self.client.list_users())

    async def users_add(self, name: str, *, platform: bool) -> Document:
        return _document(await self.client.create_user(name, platform=platform))

    async def users_remove(self, name: str) -> None:
        await self.client.remove_user(name)

    async def users_link(self, name: str) -> Document:
        return _document(await self.client.make_login_link(name))

    async def members_list(self) -> Document:
        return _document(await self.client.list_members())

    async def members_set(self, name: str, role: str) -> Document:
        try:
            return _document(await self.client.set_member(name, role))
        except NotFound:
            if self.project is None or role != Role.ADMIN:
                raise
            # Who is no member sees no project; a platform admin may give it an admin all the same.
            with suppress(Forbidden):
                async with AsyncClient(self.server, key=self.key) as outside:
                    await outside.appoint_admin(self.project, name)
                return {"name": name, "role": role}
            raise

    async def members_remove(self, name: str) -> None:
        await self.client.remove_member(name)

    async def projects_list(self) -> Document:
        found = await self.client.list_projects()
        return {
            "items": [{"name": each["name"], "title": each["title"]} for each in found["items"]]
        }

    async def projects_add(self, name: str, *, title: str) -> Document:
        made = await self.client.create_project(name, title=title)
        return {"name": made["name"], "title": made["title"]}

    async def projects_remove(self, name: str) -> None:
        await self.client.delete_project(name)

    async def secrets_list(self) -> Document:
        return _document(await self.client.list_secrets())

    async def secrets_set(
        self, name: str, value: str | None, hosts: Sequence[str] | None
    ) -> Document:
        return _document(await self.client.set_secret(name, value, hosts=hosts))

    async def secrets_delete(self, name: str) -> None:
        await self.client.delete_secret(name)

    async def secrets_rewrap(self) -> Document:
        return _document(await self.client.rewrap_secrets())

    async def audit_list(self, *, platform: bool, cursor: str | None, limit: int) -> Document:
        read = self.client.list_platform_audit if platform else self.client.list_audit
        return _document(await read(limit=limit, cursor=cursor))

    async def audit_verify(self, *, platform: bool) -> Document:
        verify = self.client.verify_platform_audit if platform else self.client.verify_audit
        return _document(await verify())

    async def callbacks_list(self) -> Document:
        return _document(await self.client.list_callbacks())

    async def callbacks_add(self, url: str, events: list[str], job: str | None) -> Document:
        return _document(await self.client.create_callback(url, events, job=job))

    async def callbacks_remove(self, id: str) -> None:
        await self.client.delete_callback(id)

    async def keys_list(self) -> Document:
        return _document(await self.client.list_keys())

    async def keys_add(
        self, name: str, role: str, *, may: list[str] | None, expires_at: int | None
    ) -> Document:
        end = None if expires_at is None else instant_text(expires_at)
        return _document(await self.client.create_key(name, role, permissions=may, expires_at=end))

    async def keys_rotate(self, id: str, overlap: int | None) -> Document:
        span = None if overlap is None else timedelta(milliseconds=overlap)
        return _document(await self.client.rotate_key(id, overlap=span))

    async def keys_revoke(self, id: str) -> None:
        await self.client.revoke_key(id)


def _document(typed: Any) -> Document:
    return cast("Document", typed)
