"""Sealed page cursors: a client can send one back, but can neither make nor change one."""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Self

from tickwell.errors import InvalidInput
from tickwell.services.keyring import Keyring

_PURPOSE = "cursor"
#: Bytes of the authentication code.
_CODE = 16


class CursorSeal:
    """Seals the cursors of a store for one list: its name, project and filter.

    The code is an HMAC. A digest without a key was enough against mistakes, but any client could
    compute one, and have its own text reach the store's query.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        #: The first seals; all open, so that a rotated server key breaks no listing under way.
        self._keys = keys

    @classmethod
    def under(cls, keyring: Keyring) -> Self:
        """By the server keys, which all API processes on one store have in common."""
        known = [key for id in keyring.ids if (key := keyring.find(id)) is not None]
        return cls([key.derive(_PURPOSE) for key in known])

    @classmethod
    def of_process(cls) -> Self:
        """By a random key of this process, until it has server keys."""
        return cls([secrets.token_bytes(32)])

    def seal(self, cursor: str | None, *scope: Any) -> str | None:
        """A store's cursor as a client receives it."""
        if cursor is None:
            return None
        code = _code(self._keys[0], cursor, scope)
        return urlsafe_b64encode(code + cursor.encode()).decode().rstrip("=")

    def open(self, text: str | None, *scope: Any) -> str | None:
        """The store's cursor that a client sent back, if it was sealed for this list."""
        if text is None:
            return None
        try:
            raw = urlsafe_b64decode((text + "=" * (-len(text) % 4)).encode("ascii"))
            cursor = raw[_CODE:].decode()
        except (NotBase64, UnicodeError):
            raise _foreign() from None
        codes = (_code(key, cursor, scope) for key in self._keys)
        if not any(hmac.compare_digest(raw[:_CODE], code) for code in codes):
            raise _foreign()
        return cursor


#: For a caller that has the store itself: it guards against mistakes only.
LOCAL_SEAL = CursorSeal([b"local"])


def _code(key: bytes, cursor: str, scope: tuple[Any, ...]) -> bytes:
    sealed = repr((cursor, *map(_stable, scope)))
    return hmac.digest(key, sealed.encode(), "sha256")[:_CODE]


def _stable(value: Any) -> Any:
    """The same in every process: the order of a set is not."""
    if is_dataclass(value) and not isinstance(value, type):
        return [_stable(getattr(value, field.name)) for field in fields(value)]
    return sorted(map(str, value)) if isinstance(value, frozenset) else value


def _foreign() -> InvalidInput:
    return InvalidInput(
        "is not a cursor of this list",
        field="cursor",
        hint="Pass next_cursor of the previous page with the same filter,"
        " or leave it out to start from the first page",
    )
