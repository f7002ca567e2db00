"""Where `{{secret.name}}` comes from; resolved when an attempt starts, and never kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol
from urllib.parse import quote

#: What stands in for a secret in all that is kept.
HIDDEN = "***"
#: A secret shorter than this would hide half of an answer.
_SHORTEST = 4


class Secrets(Protocol):
    """Gives a project's secrets."""

    async def get(self, project: str, names: Iterable[str]) -> Mapping[str, str]:
        """Those that exist."""
        ...


class NoSecrets:
    """A process that was given none."""

    async def get(self, project: str, names: Iterable[str]) -> Mapping[str, str]:
        return {}


def hider(values: Iterable[str]) -> Callable[[str], str]:
    """Takes secrets out of a text: a receiver may send back what it got."""
    long = {value for value in values if len(value) >= _SHORTEST}
    if not long:
        return str
    # As they stand in a URL, too; the longest first, since one may hold another.
    hidden = sorted(long | {quote(value, safe="") for value in long}, key=len, reverse=True)

    def hide(text: str) -> str:
        for value in hidden:
            text = text.replace(value, HIDDEN)
        return text

    return hide
