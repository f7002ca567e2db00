"""The headers of a response, as they are kept: capped, and without what lets others in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tickwell.executors.http.hiding import HIDDEN
from tickwell.executors.text import clean

#: What is kept of one response: so many headers, with so many characters in all.
MOST_HEADERS = 50
MOST_CHARACTERS = 4_096
#: Headers with one of these in their names carry credentials.
_CREDENTIALS = ("cookie", "auth", "token", "secret", "api-key", "apikey", "password", "session")


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The first of them; the value of one that carries credentials is not among them."""
    kept: dict[str, str] = {}
    room = MOST_CHARACTERS
    for name, value in headers.items():
        shown = HIDDEN if is_credential(name) else clean(value)
        room -= len(name) + len(shown)
        if room < 0 or len(kept) >= MOST_HEADERS:
            break
        kept[name] = shown
    return kept


@lru_cache(maxsize=1024)
def is_credential(name: str) -> bool:
    """Whether a header of this name carries credentials."""
    lowered = name.lower()
    return any(word in lowered for word in _CREDENTIALS)
