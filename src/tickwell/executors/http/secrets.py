"""Where `{{secret.name}}` comes from; resolved when an attempt starts, and never kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol


class Sealed(Exception):
    """This process has not the server key that a secret is sealed with; another one may."""


class Secrets(Protocol):
    """Gives a project's secrets."""

    async def get(self, project: str, names: Mapping[str, Collection[str]]) -> Mapping[str, str]:
        """Those that exist, by name; asked for with the hosts that each would be sent to.

        Raises `Unsendable` where a secret may not be sent to one of them, and `Sealed` where one
        cannot be opened here.
        """
        ...


class NoSecrets:
    """A process that was given none."""

    async def get(self, project: str, names: Mapping[str, Collection[str]]) -> Mapping[str, str]:
        return {}
