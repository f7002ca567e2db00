"""Issuers of others whose tokens are believed: what a setting says of them, and their keys."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf

from tickwell.domain.http.url import parse_url
from tickwell.errors import InvalidJob, InvalidSetting, TickwellError
from tickwell.services.access.jwk import VerifyingKey, read_set
from tickwell.services.time import Time

#: Milliseconds after which the keys are fetched anew, and between two fetches at least.
LIFE, PATIENCE = 600_000, 60_000
#: Milliseconds that keys are trusted without a successful fetch: an issuer that is away for so long
#: signs no new tokens either, and a key that it withdrew must not be good for ever.
TRUST_LIMIT = 3_600_000
#: What an issuer may be called here.
NAME = re.compile(r"[a-z0-9-]{1,32}")
_HINT = '"corp issuer=https://id.example.com audience=tickwell jwks=https://id.example.com/jwks"'

#: Fetches a document from an address, guarded as every request that goes out.
Fetch = Callable[[str], Awaitable[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedIssuer:
    """Its users are called `<name>:<subject>`, so that none of them can pass for a local one."""

    name: str
    issuer: str
    audience: str
    jwks: str
    #: The claim that holds the user's name.
    subject: str = "sub"
    #: The claim that holds a role, and the only project in which it counts.
    role: str | None = None
    project: str | None = None


def read_issuer(text: str) -> TrustedIssuer:
    """An issuer as the setting `jwt_issuers` has it."""
    name, given = read_pairs(text)
    known = {"issuer", "audience", "jwks", "subject", "role", "project"}
    missing = {"issuer", "audience", "jwks"} - given.keys()
    if not NAME.fullmatch(name) or given.keys() - known or missing or "" in given.values():
        raise InvalidSetting(
            f"{name[:32]!r} needs a name, then issuer=, audience= and jwks=",
            field="jwt_issuers",
            hint=f"For example {_HINT}",
        )
    if ("role" in given) != ("project" in given):
        raise InvalidSetting(
            "role= counts in one project only", field="jwt_issuers", hint="Give both, or neither"
        )
    require_url(given["jwks"], "jwks", "jwt_issuers")
    return TrustedIssuer(name=name, **given)


def read_pairs(text: str) -> tuple[str, dict[str, str]]:
    """A name, and what is said of it: "corp issuer=https://… client_id=…"."""
    name, *pairs = text.split() or [""]
    return name, dict(pair.partition("=")[::2] for pair in pairs)


def require_url(text: str, name: str, setting: str) -> None:
    """Refuse what is said to be an address and is none."""
    try:
        parse_url(text, setting)
    except InvalidJob as error:
        raise InvalidSetting(f"{name}= {error.reason}", field=setting, hint=error.hint) from None


class RemoteKeys:
    """The keys of another issuer, fetched when needed and remembered."""

    def __init__(self, clock: Time, url: str, fetch: Fetch) -> None:
        self._clock = clock
        self.url = url
        self._fetch = fetch
        self._keys: dict[str, VerifyingKey] = {}
        self._fetched_at: int | None = None
        self._asked_at: int | None = None
        self._looking = asyncio.Lock()

    async def find(self, kid: str) -> VerifyingKey | None:
        age = self._age()
        if kid in self._keys and (age < LIFE or (age < TRUST_LIMIT and self._looking.locked())):
            return self._keys[kid]
        # Who comes with a new key while one looks for it waits for what is found.
        async with self._looking:
            now = self._clock.now()
            # Whoever makes up key ids makes us ask once a minute, and not more.
            if self._asked_at is None or now - self._asked_at >= PATIENCE:
                self._asked_at = now
                await self._look()
        return self._keys.get(kid) if self._age() < TRUST_LIMIT else None

    def _age(self) -> float:
        return inf if self._fetched_at is None else self._clock.now() - self._fetched_at

    async def _look(self) -> None:
        asked_at = self._clock.now()
        try:
            keys = read_set(json.loads(await self._fetch(self.url)))
        except (TickwellError, OSError, ValueError, RecursionError):
            return  # known keys stay trusted for a while, so that a short outage locks no user out
        # From when it was asked for: a key may be withdrawn while the answer is under way.
        self._keys, self._fetched_at = keys, asked_at
