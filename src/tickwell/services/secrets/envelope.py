"""Envelopes: a value under a key of its own, and that key under a server key.

Both are bound to their record: what is moved to another row, project or version does not open.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from typing import Any

from tickwell.errors import StoreCorrupt
from tickwell.services.keyring import Keyring, ServerKey

#: Bytes of a nonce of AES-GCM; each key here seals one value, or wraps few keys.
_NONCE = 12


def seal(keyring: Keyring, value: bytes, binding: Sequence[str]) -> dict[str, Any]:
    """The value as a document that may be stored."""
    key, aad = secrets.token_bytes(32), _aad(binding)
    return {
        "kek": keyring.current.id,
        "dek": _encrypt(_wrapping(keyring.current), key, aad),
        "data": _encrypt(key, value, aad),
    }


def unseal(keyring: Keyring, envelope: dict[str, Any], binding: Sequence[str]) -> bytes:
    """The value; `StoreCorrupt` when the envelope was sealed with another binding."""
    return _decrypt(_data_key(keyring, envelope, binding), envelope["data"], _aad(binding))


def rewrap(keyring: Keyring, envelope: dict[str, Any], binding: Sequence[str]) -> dict[str, Any]:
    """The same envelope under the current server key; the value itself is never opened."""
    key = _data_key(keyring, envelope, binding)
    wrapped = _encrypt(_wrapping(keyring.current), key, _aad(binding))
    return envelope | {"kek": keyring.current.id, "dek": wrapped}


def _data_key(keyring: Keyring, envelope: dict[str, Any], binding: Sequence[str]) -> bytes:
    server_key = keyring.find(envelope["kek"])
    if server_key is None:
        raise StoreCorrupt(
            f"it is sealed with the server key {envelope['kek']}, which is not known here;"
            " add it to TICKWELL_SECRET_KEYS or to the key file"
        )
    return _decrypt(_wrapping(server_key), envelope["dek"], _aad(binding))


def _wrapping(key: ServerKey) -> bytes:
    return key.derive("kek")


def _aad(binding: Sequence[str]) -> bytes:
    """With lengths, so that no two bindings make the same bytes."""
    parts = [part.encode() for part in binding]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _encrypt(key: bytes, value: bytes, aad: bytes) -> str:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # an extra

    nonce = secrets.token_bytes(_NONCE)
    return base64.b64encode(nonce + AESGCM(key).encrypt(nonce, value, aad)).decode()


def _decrypt(key: bytes, text: str, aad: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # an extra
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    try:
        sealed = base64.b64decode(text)
        return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], aad)
    except (InvalidTag, ValueError):
        raise StoreCorrupt("sealed for another record, or changed since") from None
