"""Our own issuer: signing keys in the store, sealed; short tokens for users; a JWKS."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tickwell.ids import Random, new_id
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.jwk import VerifyingKey, read_key
from tickwell.services.access.user import User
from tickwell.services.keyring import Keyring
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.secrets.envelope import rewrap, seal, unseal
from tickwell.services.time import Time
from tickwell.services.ttl_cache import Recall

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
        self._recall: Recall[str, list[SigningKey]] = Recall(clock)

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
        self._recall.forget("")
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
        keys = await self._recall.get("", self._read)
        return {"keys": [key.public for key in keys]}

    async def find(self, kid: str) -> VerifyingKey | None:
        """`jwk.KeySource`: what a token of ours is checked with."""
        for since in (None, self._clock.now() - AGAIN):
            for key in await self._recall.get("", self._read, since=since):
                if key.id == kid:
                    return read_key(key.public)
        return None

    async def _signing(self, now: int) -> SigningKey:
        ready = [key for key in await self._recall.get("", self._read) if key.signs_from <= now]
        return max(ready, key=lambda key: key.signs_from) if ready else await self._first(now)

    async def _first(self, now: int) -> SigningKey:
        key = self._new_key(FIRST, now)
        is_made = await self._store.put_record(_record(key), now, 0)
        self._recall.forget("")
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
