"""Logging in through another issuer: OpenID Connect, authorization code with PKCE."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

from tickwell.errors import InvalidInput, InvalidSetting, Unauthenticated
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor
from tickwell.services.access.directory import Directory
from tickwell.services.access.issuer import ISSUER_NAME, RemoteKeys, read_pairs, require_url
from tickwell.services.access.issuer import LIFE as KEYS_LIFE
from tickwell.services.access.jwt import read_unverified, subject_of, verify
from tickwell.services.access.logins import REFUSED, Logins
from tickwell.services.access.user import User, check_user_name
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time

KIND = "oidc_state"
#: Of one that is unknown, too old, of another browser, or was used.
USED_UP = "this login was already used or has expired; start again"
#: Milliseconds that a person has to log in over there.
LIFE = 10 * 60_000
#: No answer, or none that says what was asked for.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Whom to ask. Its users are called `<name>:<subject>`."""

    name: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    subject: str = "sub"


def read_provider(text: str, client_secret: str) -> Provider:
    """A provider as the setting `oidc` has it; the secret comes from the environment."""
    name, pairs = read_pairs(text)
    whole = {"issuer", "client_id"} <= pairs.keys() <= {"issuer", "client_id", "subject"}
    if not ISSUER_NAME.fullmatch(name) or not whole or "" in pairs.values():
        raise InvalidSetting(
            "needs a name of small letters, digits and -, then issuer= and client_id=",
            field="oidc",
            hint='For example "corp issuer=https://id.example.com client_id=tickwell"',
        )
    require_url(pairs["issuer"], "issuer", "oidc")
    return Provider(name=name, client_secret=client_secret, **pairs)


class Web(Protocol):
    """Goes out, guarded as every request."""

    async def __call__(self, address: str) -> bytes: ...

    async def post(self, address: str, form: dict[str, str]) -> bytes:
        """Send a form; the body of the answer, or `OSError`."""
        ...


class Oidc:
    """Sends a person there, and takes what they come back with."""

    def __init__(
        self,
        store: RecordStore,
        clock: Time,
        provider: Provider,
        *,
        web: Web,
        directory: Directory,
        logins: Logins,
    ) -> None:
        self.provider = provider
        self._store = store
        self._clock = clock
        self._web = web
        self._directory = directory
        self._logins = logins
        self._found: dict[str, Any] | None = None
        self._found_at = 0
        self._keys: RemoteKeys | None = None

    async def begin(self, back: str, wanted: str, *, asker: Actor) -> tuple[str, str]:
        """Where to send the person, and the state that their browser keeps meanwhile."""
        self._logins.throttle(asker.address)  # each leaves a record
        found = await self._discover()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        now = self._clock.now()
        document = {"nonce": nonce, "verifier": verifier, "back": back, "wanted": wanted}
        record = Record(
            kind=KIND,
            project=PLATFORM,
            key=_hash(state),
            document=document,
            expires_at=now + LIFE,
        )
        await self._store.put_record(record, now)
        challenge = hashlib.sha256(verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": back,
            "scope": "openid email",
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        there = found["authorization_endpoint"]
        return f"{there}{'&' if '?' in there else '?'}{urlencode(query)}", state

    async def finish(
        self, state: str, cookie: str, code: str, *, asker: Actor, old: str | None
    ) -> tuple[str, str]:
        """The id of a new session, and the page that was wanted. A state is good once."""
        record = await self._store.get_record(KIND, PLATFORM, _hash(state), self._clock.now())
        same_browser = hmac.compare_digest(state.encode(), cookie.encode())
        if record is None or not same_browser:
            raise Unauthenticated(USED_UP)
        if not await self._store.delete_record(KIND, PLATFORM, record.key):
            raise Unauthenticated(USED_UP)
        claims = await self._claims(code, record.document)
        user = await self._user(claims)
        id = await self._logins.for_user(user, asker=asker, old=old, how="oidc")
        return id, str(record.document["wanted"])

    async def _claims(self, code: str, asked: dict[str, Any]) -> dict[str, Any]:
        found = await self._discover()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": asked["back"],
            "client_id": self.provider.client_id,
            "code_verifier": asked["verifier"],
        }
        if self.provider.client_secret:
            form["client_secret"] = self.provider.client_secret
        try:
            answer = json.loads(await self._web.post(found["token_endpoint"], form))
            token = read_unverified(str(answer["id_token"]))
        except _UNREADABLE:
            raise Unauthenticated(REFUSED) from None
        if self._keys is None or self._keys.url != found["jwks_uri"]:
            self._keys = RemoteKeys(self._clock, found["jwks_uri"], self._web)
        key = await self._keys.find(token.kid)
        if key is None or token.issuer != self.provider.issuer:
            raise Unauthenticated(REFUSED)
        claims = verify(token, key, self.provider.client_id, self._clock.now())
        if not hmac.compare_digest(str(claims.get("nonce")).encode(), asked["nonce"].encode()):
            raise Unauthenticated(REFUSED)
        if claims.get("azp", self.provider.client_id) != self.provider.client_id:
            raise Unauthenticated(REFUSED)  # made for somebody else, and we may only read it
        return claims

    async def _user(self, claims: dict[str, Any]) -> User:
        subject = subject_of(claims, self.provider.subject)
        if subject is None:
            raise Unauthenticated(REFUSED)
        try:
            name = check_user_name(f"{self.provider.name}:{subject}")
        except InvalidInput:
            raise Unauthenticated(REFUSED) from None
        user = await self._directory.read(name)
        if user is None:
            raise Unauthenticated(f"you are {name}, but not a member yet; ask an admin")
        return await self._directory.note_arrival(user)

    async def _discover(self) -> dict[str, Any]:
        now = self._clock.now()
        if self._found is None or now - self._found_at >= KEYS_LIFE:
            # Fetched anew like the keys: an issuer that moves them would never log anybody in.
            self._found, self._found_at = await self._fetch_configuration(), now
        return self._found

    async def _fetch_configuration(self) -> dict[str, Any]:
        address = f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            document = json.loads(await self._web(address))
            wanted = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
            found = {name: str(document[name]) for name in wanted}
        except _UNREADABLE:
            raise Unauthenticated("the issuer does not answer; try again later") from None
        if found["issuer"] != self.provider.issuer:
            raise Unauthenticated("the issuer's name differs from the one in the setting oidc")
        return found


def _hash(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
