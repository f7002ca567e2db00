"""Where `{{secret.name}}` comes from; resolved when an attempt starts, and never kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class Secrets(Protocol):
    """Gives a project's secrets."""

    async def get(self, project: str, names: Iterable[str]) -> Mapping[str, str]:
        """Those that exist."""
        ...


class NoSecrets:
    """A process that was given none."""

    async def get(self, project: str, names: Iterable[str]) -> Mapping[str, str]:
        return {}
