"""Our own issuer: signing keys in the store, sealed; short tokens for users; a JWKS."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from tickwell.domain.http.url import parse_url
from tickwell.errors import InvalidInput, InvalidJob, InvalidSetting, TickwellError, Unauthenticated
from tickwell.ids import Random, new_id
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Role
from tickwell.services.access.directory import Directory
from tickwell.services.access.jwt import (
    REFUSED,
    VerifyingKey,
    read_key,
    read_set,
    read_unverified,
    subject_of,
    verify,
)
from tickwell.services.access.user import User, check_user_name
from tickwell.services.keyring import Keyring
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.secrets.envelope import rewrap, seal, unseal
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache

KIND = "signing_key"
#: What own tokens say of issuer and audience.
NAME = "tickwell"
ALGORITHM = "ES256"
#: Milliseconds that a token lives, at most and unless told otherwise.
LONGEST_LIFE, LIFE = 3_600_000, 900_000
#: Milliseconds that a new key is shown before it signs, so that everybody knows it by then.
AHEAD = 60_000
#: The id of the first key, before all later ones. One process of several that start at once makes
#: it: the others would refuse tokens of a second one until they read the keys again.
FIRST = "0"
#: Milliseconds between two looks for keys that tokens name and this process does not know.
AGAIN = 1_000


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key pair; the private half sealed."""

    id: str
    public: dict[str, Any]
    sealed: dict[str, Any]
    signs_from: int


class Issuer:
    """Signs with the newest key whose time has come; tokens of the one before stay valid."""

    def __init__(self, store: RecordStore, clock: Time, random: Random, keyring: Keyring) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._keyring = keyring
        self._cache: TtlCache[str, list[SigningKey]] = TtlCache(clock)

    async def issue(self, user: User, life: int = LIFE) -> str:
        """A token that says who the user is. What they may do is looked up at every request."""
        from joserfc import jwt  # noqa: PLC0415  # an extra
        from joserfc.jwk import ECKey  # noqa: PLC0415

        now = self._clock.now()
        key = await self._signing(now)
        private = json.loads(unseal(self._keyring, key.sealed, _place(key.id)))
        second = now // 1000
        claims = {
            "iss": NAME,
            "aud": NAME,
            "sub": user.name,
            "gen": user.generation,
            "iat": second,
            "nbf": second,
            "exp": second + min(life, LONGEST_LIFE) // 1000,
            "jti": new_id(now, self._random),
        }
        header = {"alg": ALGORITHM, "kid": key.id, "typ": "JWT"}
        return jwt.encode(header, claims, ECKey.import_key(private), algorithms=[ALGORITHM])

    async def rotate(self) -> str:
        """Make a new key. It signs after a minute; the others go when their tokens have ended."""
        now = self._clock.now()
        key = self._new_key(new_id(now, self._random), now + AHEAD)
        await self._store.put_record(_record(key), now)
        self._cache.forget("")
        for old in (await self._read())[:-1]:
            record = _record(old, now + AHEAD + LONGEST_LIFE + 60_000)
            known = await self._store.get_record(KIND, PLATFORM, old.id, now)
            if known is not None and known.expires_at is None:
                await self._store.put_record(record, now, known.version)
        return key.id

    async def rewrap(self) -> int:
        """Put the signing keys under the current server key; how many were not."""
        now, moved = self._clock.now(), 0
        for record in await self._store.list_records(KIND, PLATFORM, "", now):
            sealed = record.document["sealed"]
            if sealed["kek"] != self._keyring.current.id:
                record.document["sealed"] = rewrap(self._keyring, sealed, _place(record.key))
                moved += await self._store.put_record(record, now, record.version)
        return moved

    async def jwks(self) -> dict[str, Any]:
        """The public halves, for others who check our tokens."""
        keys = await self._cache.get("", self._read)
        return {"keys": [key.public for key in keys]}

    async def find(self, kid: str) -> VerifyingKey | None:
        """What a token of ours is checked with."""
        for since in (None, self._clock.now() - AGAIN):
            for key in await self._cache.get("", self._read, since=since):
                if key.id == kid:
                    return read_key(key.public)
        return None

    async def _signing(self, now: int) -> SigningKey:
        ready = [key for key in await self._cache.get("", self._read) if key.signs_from <= now]
        return max(ready, key=lambda key: key.signs_from) if ready else await self._first(now)

    async def _first(self, now: int) -> SigningKey:
        key = self._new_key(FIRST, now)
        is_made = await self._store.put_record(_record(key), now, 0)
        self._cache.forget("")
        return key if is_made else await self._signing(now)

    async def _read(self) -> list[SigningKey]:
        records = await self._store.list_records(KIND, PLATFORM, "", self._clock.now())
        return [SigningKey(id=record.key, **record.document) for record in records]

    def _new_key(self, id: str, signs_from: int) -> SigningKey:
        from joserfc.jwk import ECKey  # noqa: PLC0415  # an extra

        pair = ECKey.generate_key("P-256", {"kid": id, "alg": ALGORITHM, "use": "sig"})
        private = json.dumps(pair.as_dict(private=True)).encode()
        return SigningKey(
            id,
            dict(pair.as_dict(private=False)),
            seal(self._keyring, private, _place(id)),
            signs_from,
        )


def _record(key: SigningKey, expires_at: int | None = None) -> Record:
    document = {"public": key.public, "sealed": key.sealed, "signs_from": key.signs_from}
    return Record(kind=KIND, project=PLATFORM, key=key.id, document=document, expires_at=expires_at)


def _place(id: str) -> tuple[str, str, str]:
    return PLATFORM, KIND, id


#: Milliseconds after which the keys are fetched anew, and between two fetches at least.
LIFE, PATIENCE = 600_000, 60_000
#: Milliseconds that keys are trusted without a successful fetch: an issuer that is away for so long
#: signs no new tokens either, and a key that it withdrew must not be good for ever.
TRUST_LIMIT = 3_600_000
#: What an issuer may be called here.
ISSUER_NAME = re.compile(r"[a-z0-9-]{1,32}")
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
    name, pairs = read_pairs(text)
    known = {"issuer", "audience", "jwks", "subject", "role", "project"}
    missing = {"issuer", "audience", "jwks"} - pairs.keys()
    if not ISSUER_NAME.fullmatch(name) or pairs.keys() - known or missing or "" in pairs.values():
        raise InvalidSetting(
            f"{name[:32]!r} needs a name, then issuer=, audience= and jwks=",
            field="jwt_issuers",
            hint=f"For example {_HINT}",
        )
    if ("role" in pairs) != ("project" in pairs):
        raise InvalidSetting(
            "role= counts in one project only", field="jwt_issuers", hint="Give both, or neither"
        )
    require_url(pairs["jwks"], "jwks", "jwt_issuers")
    return TrustedIssuer(name=name, **pairs)


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
            # Invented key ids make us ask the issuer once a minute at most.
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


@dataclass(frozen=True, slots=True)
class _Known:
    trusted: TrustedIssuer
    keys: RemoteKeys


class Tokens:
    """Turns a token into a user. Roles are looked up in the store, not believed from a claim."""

    def __init__(
        self,
        clock: Time,
        directory: Directory,
        issuer: Issuer,
        trusted: Sequence[TrustedIssuer],
        fetch: Fetch,
        *,
        is_deleted: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._issuer = issuer
        #: Of a project: no claim opens one that is gone.
        self._is_deleted = is_deleted
        self._trusted: Mapping[str, _Known] = {
            each.issuer: _Known(each, RemoteKeys(clock, each.jwks, fetch)) for each in trusted
        }

    async def find(self, text: str) -> User:
        """The user that a token names; `Unauthenticated` without saying what is wrong with it."""
        token = read_unverified(text)
        known = self._trusted.get(token.issuer)
        if token.issuer != NAME and known is None:
            raise Unauthenticated(REFUSED)
        key = await (known.keys if known else self._issuer).find(token.kid)
        if key is None:
            raise Unauthenticated(REFUSED)
        audience = known.trusted.audience if known else NAME
        claims = verify(token, key, audience, self._clock.now())
        user = await (self._foreign(known.trusted, claims) if known else self._own(claims))
        if user is None or user.disabled:
            raise Unauthenticated(REFUSED)
        return user

    async def _own(self, claims: Mapping[str, Any]) -> User | None:
        user = await self._directory.find(str(claims.get("sub")))
        return user if user and user.generation == claims.get("gen") else None

    async def _foreign(self, trusted: TrustedIssuer, claims: Mapping[str, Any]) -> User | None:
        subject = subject_of(claims, trusted.subject)
        if subject is None:
            return None
        try:
            name = check_user_name(f"{trusted.name}:{subject}")
        except InvalidInput:
            return None
        user = await self._directory.find(name)
        if user is not None:
            user = await self._directory.note_arrival(user)
        role = _role(claims.get(trusted.role)) if trusted.role else None
        if trusted.project and role is not None and not await self._is_deleted(trusted.project):
            known = user or User(name=name)
            pairs = {trusted.project: role}
            # Not written anywhere: it counts as long as the token does.
            roles = {**known.roles, **pairs}
            return User(name=name, disabled=known.disabled, roles=roles, home=known.home)
        return user


def _role(claim: Any) -> Role | None:
    """The role that a claim names: as a text, or alone among other texts in a list."""
    named = claim if isinstance(claim, list) else [claim]
    known = {each.value: each for each in Role}
    found = {known[each] for each in named if isinstance(each, str) and each in known}
    return found.pop() if len(found) == 1 else None
