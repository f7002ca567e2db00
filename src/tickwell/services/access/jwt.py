"""JSON Web Tokens: read with suspicion. Nothing in a token says how it is to be checked."""

from __future__ import annotations

import base64
import binascii
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tickwell.errors import Unauthenticated
from tickwell.services.access.jwk import VerifyingKey, is_kid

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
