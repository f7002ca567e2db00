"""Public keys that tokens are checked with, each pinned to one algorithm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

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


class KeySource(Protocol):
    """The keys of one issuer."""

    async def find(self, kid: str) -> VerifyingKey | None:
        """The key with this id."""
        ...


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
