"""The headers of a response as they are stored: capped, and without credentials."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tickwell.executors.http.response.redaction import REDACTED
from tickwell.executors.text import clean

#: Headers of one response that are stored, and their characters in all.
MOST_HEADERS = 50
MOST_CHARACTERS = 4_096
#: Headers with one of these in their names carry credentials.
_CREDENTIALS = ("cookie", "auth", "token", "secret", "api-key", "apikey", "password", "session")


def stored_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The first headers; values that carry credentials are redacted."""
    kept: dict[str, str] = {}
    room = MOST_CHARACTERS
    for name, value in headers.items():
        shown = REDACTED if is_credential(name) else clean(value)
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
