"""JSON Web Tokens: read with suspicion. Nothing in a token says how it is to be checked."""

from __future__ import annotations

import base64
import binascii
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tickwell.errors import Unauthenticated

if TYPE_CHECKING:
    from joserfc.jwk import Key


#: Of one issuer; a set with more is cut.
MOST = 50
_KID = re.compile(r"[A-Za-z0-9._~:=+-]{1,128}")
#: The algorithms that a kind of key may be used with, the usual one first. Never a shared secret.
_ALGORITHMS = {
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("RSA", ""): ("RS256", "PS256", "RS384", "RS512", "PS384", "PS512"),
    ("OKP", "Ed25519"): ("Ed25519", "EdDSA"),
}
#: Bits. Larger ones prove no more, and every token of theirs would take longer to check.
_SMALLEST_RSA, _LARGEST_RSA = 2048, 4096


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A key, and what tokens that it signed may say of their algorithm."""

    key: Key
    algorithms: tuple[str, ...]


def is_kid(kid: object) -> bool:
    """Whether this may name a key: no path, no query, nothing that is looked up elsewhere."""
    return isinstance(kid, str) and _KID.fullmatch(kid) is not None and ".." not in kid


def read_set(document: Any) -> dict[str, VerifyingKey]:
    """The keys of a JWKS that can be used; others are passed over. `ValueError` for no JWKS."""
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise ValueError("a JWKS is an object with a list of keys")  # noqa: TRY004 - as of bad JSON
    found = {}
    for each in keys[:MOST]:
        if isinstance(each, dict) and is_kid(each.get("kid")) and (key := read_key(each)):
            found[str(each["kid"])] = key
    return found


def read_key(document: dict[str, Any]) -> VerifyingKey | None:
    """A public key; None for what tokens are not to be checked with."""
    from joserfc.errors import JoseError  # noqa: PLC0415  # an extra
    from joserfc.jwk import RSAKey, import_key  # noqa: PLC0415

    kind = str(document.get("kty")), str(document.get("crv", ""))
    known = _ALGORITHMS.get(kind, ())
    pinned = document.get("alg")
    algorithms = tuple(name for name in known if pinned is None or name == pinned)
    if not algorithms or document.get("use", "sig") != "sig":
        return None
    public: dict[str, Any] = {
        name: document[name] for name in ("kty", "crv", "x", "y", "n", "e") if name in document
    }
    try:
        key = import_key(public)
        size = key.public_key.key_size if isinstance(key, RSAKey) else _SMALLEST_RSA
        if not _SMALLEST_RSA <= size <= _LARGEST_RSA:
            return None
    except (JoseError, ValueError, TypeError):
        return None
    # A kind of key with several is pinned to the usual one, unless the key itself names another.
    return VerifyingKey(key, algorithms if kind[0] == "OKP" else algorithms[:1])


#: Characters of a token.
LONGEST = 8192
#: Seconds that clocks may differ, and that a token may live.
LEEWAY, LONGEST_LIFE = 30, 24 * 3600
#: The same, whatever was wrong.
REFUSED = "the token is not valid here; get a new one"
_TYPES = {"jwt", "at+jwt", "application/at+jwt"}


@dataclass(frozen=True, slots=True)
class Unverified:
    """What a token says of itself: good for finding the key, and for nothing else."""

    text: str
    algorithm: str
    kid: str
    issuer: str


def looks_like_token(text: str) -> bool:
    """Whether it has the three parts."""
    return text.count(".") == 2 and text.startswith("ey")


def read_unverified(text: str) -> Unverified:
    """The parts that find the key; `Unauthenticated` for what no issuer would write."""
    if len(text) > LONGEST:
        raise Unauthenticated(REFUSED)
    parts = text.split(".")
    if len(parts) != 3:
        raise Unauthenticated(REFUSED)
    header, claims = _part(parts[0]), _part(parts[1])
    kid, algorithm, issuer = header.get("kid"), header.get("alg"), claims.get("iss")
    typ = header.get("typ", "JWT")
    good = isinstance(algorithm, str) and isinstance(issuer, str) and is_kid(kid)
    if not good or "crit" in header or str(typ).lower() not in _TYPES:
        raise Unauthenticated(REFUSED)
    return Unverified(text, str(algorithm), str(kid), str(issuer))


def verify(token: Unverified, key: VerifyingKey, audience: str, now: int) -> dict[str, Any]:
    """The claims of a token that this key signed, for us, and that is in time."""
    from joserfc import jwt  # noqa: PLC0415  # an extra
    from joserfc.errors import JoseError  # noqa: PLC0415

    if token.algorithm not in key.algorithms:
        raise Unauthenticated(REFUSED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # EdDSA, the older name of Ed25519
            decoded = jwt.decode(token.text, key.key, algorithms=[token.algorithm])
    except (JoseError, ValueError, TypeError):
        raise Unauthenticated(REFUSED) from None
    claims = decoded.claims
    audiences = claims.get("aud")
    meant = audiences if isinstance(audiences, list) else [audiences]
    if claims.get("iss") != token.issuer or audience not in meant or not _in_time(claims, now):
        raise Unauthenticated(REFUSED)
    return claims


def subject_of(claims: Mapping[str, Any], claim: str) -> str | None:
    """The user's name at the issuer; None when the token does not prove one.

    Many issuers let users enter any email address, so one that is not verified proves nothing.
    """
    subject = claims.get(claim)
    is_proved = claim != "email" or claims.get("email_verified") is True
    return subject if isinstance(subject, str) and is_proved else None


def _in_time(claims: dict[str, Any], now: int) -> bool:
    """By the whole second; a token without a beginning or an end is none."""
    begins: Any = claims.get("nbf", claims.get("iat"))
    made: Any = claims.get("iat", begins)
    ends: Any = claims.get("exp")
    if not all(type(each) in {int, float} for each in (begins, made, ends)):
        return False
    second = now / 1000
    is_now = begins - LEEWAY <= second < ends + LEEWAY
    return bool(is_now and 0 < ends - made <= LONGEST_LIFE)


def _part(text: str) -> dict[str, Any]:
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        found = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError):
        raise Unauthenticated(REFUSED) from None
    if not isinstance(found, dict):
        raise Unauthenticated(REFUSED)
    return found
