"""Which server, and who asks it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tickwell.errors import InvalidSetting

SERVER, KEY = "TICKWELL_SERVER", "TICKWELL_KEY"


@dataclass(frozen=True, slots=True)
class Place:
    """An address that was looked at, and the headers that go with every request."""

    url: str
    headers: dict[str, Any] = field(repr=False)  # the key is among them

    @classmethod
    def of(cls, server: str | None, key: str | None, project: str | None) -> Place:
        """By arguments, else by the environment."""
        url = _checked(os.environ.get(SERVER, "") if server is None else server)
        shown = os.environ.get(KEY, "") if key is None else key
        headers = {"User-Agent": "tickwell-client"}
        if shown:
            if not (shown.isascii() and shown.isprintable() and " " not in shown):
                raise InvalidSetting("a key has no such characters", field="key")
            headers["Authorization"] = f"Bearer {shown}"
        if project is not None:
            headers["X-Tickwell-Project"] = project
        return cls(url, headers)


def _checked(url: str) -> str:
    hint = "For example https://jobs.example.com, or http://127.0.0.1:8080"
    if not url:
        raise InvalidSetting("no server is named", field="server", hint=f"Set {SERVER}. {hint}")
    quoted = url.rpartition("@")[2]  # before it a password may stand
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        reason = error if quoted == url else "what stands before it is not understood"
        raise InvalidSetting(
            f"{quoted!r} is no address: {reason}", field="server", hint=hint
        ) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise InvalidSetting(f"{quoted!r} is no address of a server", field="server", hint=hint)
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidSetting(
            "an address has no user, query or fragment", field="server", hint=f"Set {KEY}. {hint}"
        )
    return url.rstrip("/")
