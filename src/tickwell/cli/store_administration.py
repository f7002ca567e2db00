"""What is administered on a store itself, past its service; written down all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Self

from tickwell.cli.administration import Document
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.access.keys import OVERLAP
from tickwell.services.access.permission import Permission, Role
from tickwell.services.access.user import public
from tickwell.services.admin.admin import Administration
from tickwell.services.admin.admin_documents import (
    callback_document,
    entry_document,
    key_document,
    secret_document,
)
from tickwell.services.admin.admin_factory import open_administration
from tickwell.services.callbacks.callback import Told
from tickwell.services.operations.tools import Tools
from tickwell.settings import Settings


@dataclass(frozen=True, slots=True)
class StoreAdministration:
    """`tickwell.cli.administration.Administration`, with the keys of the store's service."""

    service: Administration
    actor: Actor
    #: Where the service listens, as far as this command knows.
    address: str

    @classmethod
    async def over(cls, tools: Tools, settings: Settings, actor: Actor) -> Self:
        """On an opened store."""
        return cls(await open_administration(tools, settings), actor, _address(settings))

    async def users_list(self) -> Document:
        return {"items": [public(each) for each in await self.service.users.list(self.actor)]}

    async def users_add(self, name: str, *, platform: bool) -> Document:
        return public(await self.service.users.create(self.actor, name, platform=platform))

    async def users_remove(self, name: str) -> None:
        await self.service.users.remove(self.actor, name)

    async def users_link(self, name: str) -> Document:
        token = await self.service.users.link(self.actor, name)
        return {"link": f"{self.address}/login?link={token}"}

    async def members_list(self) -> Document:
        found = await self.service.members.list(self.actor)
        return {"items": [{"name": name, "role": role.value} for name, role in found]}

    async def members_set(self, name: str, role: str) -> Document:
        await self.service.members.set(self.actor, name, _role(role))
        return {"name": name, "role": role}

    async def members_remove(self, name: str) -> None:
        await self.service.members.remove(self.actor, name)

    async def projects_list(self) -> Document:
        found = await self.service.projects.list(self.actor)
        return {"items": [{"name": each.name, "title": each.title} for each in found]}

    async def projects_add(self, name: str, *, title: str) -> Document:
        made = await self.service.projects.create(self.actor, name, title=title)
        return {"name": made.name, "title": made.title}

    async def projects_remove(self, name: str) -> None:
        await self.service.projects.delete(self.actor, name)

    async def secrets_list(self) -> Document:
        found = await self.service.secrets.list(self.actor)
        return {"items": [secret_document(each) for each in found]}

    async def secrets_set(
        self, name: str, value: str | None, hosts: Sequence[str] | None
    ) -> Document:
        return secret_document(await self.service.secrets.set(self.actor, name, value, hosts))

    async def secrets_delete(self, name: str) -> None:
        await self.service.secrets.delete(self.actor, name)

    async def secrets_rewrap(self) -> Document:
        return {"rewrapped": await self.service.rewrapping.run(self.actor)}

    async def audit_list(self, *, platform: bool, cursor: str | None, limit: int) -> Document:
        audit = self.service.audit
        page = await (audit.list_platform if platform else audit.list)(self.actor, cursor, limit)
        return {
            "items": [entry_document(entry) for entry in page.items],
            "next_cursor": page.cursor,
        }

    async def audit_verify(self, *, platform: bool) -> Document:
        audit = self.service.audit
        return asdict(await (audit.verify_platform if platform else audit.verify)(self.actor))

    async def callbacks_list(self) -> Document:
        found = await self.service.callbacks.list(self.actor)
        return {"items": [callback_document(each) for each in found]}

    async def callbacks_add(self, url: str, events: list[str], job: str | None) -> Document:
        made = await self.service.callbacks.create(self.actor, url, _told(events), job)
        return callback_document(made.callback) | {"signing_key": made.signing_key}

    async def callbacks_remove(self, id: str) -> None:
        await self.service.callbacks.delete(self.actor, id)

    async def keys_list(self) -> Document:
        found = await self.service.keys.list(self.actor)
        return {"items": [key_document(key, used) for key, used in found]}

    async def keys_add(
        self, name: str, role: str, *, may: list[str] | None, expires_at: int | None
    ) -> Document:
        made = await self.service.keys.create(
            self.actor,
            name,
            _role(role),
            permissions=None if may is None else _permissions(may),
            expires_at=expires_at,
        )
        return key_document(made.key, None) | {"key": made.token}

    async def keys_rotate(self, id: str, overlap: int | None) -> Document:
        life = OVERLAP if overlap is None else overlap
        made = await self.service.keys.rotate(self.actor, id, life)
        return key_document(made.key, None) | {"key": made.token}

    async def keys_revoke(self, id: str) -> None:
        await self.service.keys.revoke(self.actor, id)


def _told(events: list[str]) -> frozenset[Told]:
    return frozenset(Told(_known(each, Told, f"events.{n}")) for n, each in enumerate(events))


def _permissions(may: list[str]) -> frozenset[Permission]:
    words = (_known(each, Permission, f"permissions.{n}") for n, each in enumerate(may))
    return frozenset(Permission(word) for word in words)


def _role(text: str) -> Role:
    return Role(_known(text, Role, "role"))


def _known(text: str, words: type[StrEnum], field: str) -> str:
    """Refused in the words of a server."""
    if text in set(words):
        return text
    hint = f"Known are {', '.join(words)}"
    raise InvalidInput("is not one of those known", field=field, hint=hint)


def _address(settings: Settings) -> str:
    if settings.public_url:
        return settings.public_url.rstrip("/")
    scheme = "https" if settings.tls_cert else "http"
    host = "localhost" if settings.host in {"0.0.0.0", "::"} else settings.host  # noqa: S104
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port}"
