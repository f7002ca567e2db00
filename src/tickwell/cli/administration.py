"""What commands administer, whoever answers; documents are those of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Document = dict[str, Any]


class Administration(Protocol):
    """The part of a backend that few commands need; keys and secrets are those of its project."""

    async def users_list(self) -> Document:
        """All users: {"items": […]}."""
        ...

    async def users_add(self, name: str, *, platform: bool) -> Document:
        """Add a user, who logs in by a link or through another issuer."""
        ...

    async def users_remove(self, name: str) -> None:
        """Take a user away, with sessions and memberships."""
        ...

    async def users_link(self, name: str) -> Document:
        """A link that logs a user in, once: {"link": an address}."""
        ...

    async def members_list(self) -> Document:
        """Who is what in the project: {"items": […]}."""
        ...

    async def members_set(self, name: str, role: str) -> Document:
        """Make a user a member, or give a member another role."""
        ...

    async def members_remove(self, name: str) -> None:
        """Take a member's rights in the project away."""
        ...

    async def projects_list(self) -> Document:
        """All projects: {"items": […]}."""
        ...

    async def projects_add(self, name: str, *, title: str) -> Document:
        """Make a project; answers its name and title."""
        ...

    async def projects_remove(self, name: str) -> None:
        """Take a project away: keys and memberships first, then jobs and secrets."""
        ...

    async def secrets_list(self) -> Document:
        """Names and versions: {"items": […]}."""
        ...

    async def secrets_set(
        self, name: str, value: str | None, hosts: Sequence[str] | None
    ) -> Document:
        """Add a secret, or change its value, its hosts or both; answers its name and version."""
        ...

    async def secrets_delete(self, name: str) -> None:
        """Take a secret away."""
        ...

    async def secrets_rewrap(self) -> Document:
        """Put the secrets of all projects under the current server key: {"rewrapped": count}."""
        ...

    async def audit_list(self, *, platform: bool, cursor: str | None, limit: int) -> Document:
        """Who did what, newest first: {"items": […], "next_cursor": …}."""
        ...

    async def audit_verify(self, *, platform: bool) -> Document:
        """Whether the audit log is whole: entries, head, problem."""
        ...

    async def callbacks_list(self) -> Document:
        """Callbacks without the keys that sign them: {"items": […]}."""
        ...

    async def callbacks_add(self, url: str, events: list[str], job: str | None) -> Document:
        """Make a callback; `signing_key` is shown this once."""
        ...

    async def callbacks_remove(self, id: str) -> None:
        """Take a callback away."""
        ...

    async def keys_list(self) -> Document:
        """Keys without their secrets: {"items": […]}."""
        ...

    async def keys_add(
        self, name: str, role: str, *, may: list[str] | None, expires_at: int | None
    ) -> Document:
        """Make a key, for less than its role with `may`; its secret, `key`, is shown this once."""
        ...

    async def keys_rotate(self, id: str, overlap: int | None) -> Document:
        """Make a key in the place of another, which works on for `overlap` milliseconds."""
        ...

    async def keys_revoke(self, id: str) -> None:
        """Take a key away."""
        ...
