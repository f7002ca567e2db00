"""Where `{{secret.name}}` comes from; resolved when an attempt starts, and never kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
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


#: For whom nothing was filled in.
HIDE_NOTHING: Callable[[str], str] = str


def hider(values: Iterable[str]) -> Callable[[str], str]:
    """Takes secrets out of a text: a receiver may send back what it got."""
    long = {value for value in values if len(value) >= _SHORTEST}
    if not long:
        return HIDE_NOTHING
    # As they stand in a URL and in JSON, too; the longest first, since one may hold another.
    forms = {form for value in long for form in _forms(value)}
    hidden = sorted(forms, key=len, reverse=True)

    def hide(text: str) -> str:
        for value in hidden:
            text = text.replace(value, HIDDEN)
        # What was cut may end in the beginning of one.
        for value in hidden:
            text = _without_beginning(text, value)
        return text

    return hide


def _forms(value: str) -> Iterator[str]:
    yield value
    yield quote(value, safe="")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]


def _without_beginning(text: str, value: str) -> str:
    for length in range(min(len(value) - 1, len(text)), _SHORTEST - 1, -1):
        if text.endswith(value[:length]):
            return text[:-length] + HIDDEN
    return text
