"""Keys of client certificates, judged by their size before they sign a handshake.

A handshake signs in the event loop: 0.35 s with an RSA key of 16,384 bits, 7 ms with 4,096.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass

#: Bits of an RSA modulus, and so of each of its two primes.
MOST_RSA_BITS = 4096
KINDS = f"RSA up to {MOST_RSA_BITS:,} bits, EC (P-256, P-384, P-521), Ed25519 or Ed448"

_RSA = {"1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10"}
_EC = "1.2.840.10045.2.1"
_EDWARDS = {"1.3.101.112", "1.3.101.113"}
#: Others are slower, or described by the key itself.
_CURVES = {"1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35"}

_ENCRYPTED = "its key has a password; store it without one"
_INTEGER, _OCTETS, _OBJECT, _SEQUENCE, _PARAMETERS = 0x02, 0x04, 0x06, 0x30, 0xA0


class Unusable(ValueError):
    """Why a text is no client certificate that can be shown."""


@dataclass(frozen=True, slots=True)
class _Block:
    label: str
    der: bytes

    def text(self) -> str:
        body = base64.encodebytes(self.der).decode()
        return f"-----BEGIN {self.label}-----\n{body}-----END {self.label}-----\n"


def checked_pem(pem: str) -> str:
    """The key and the certificates of a text, written anew; `Unusable` if they cannot be shown.

    Written anew, so that OpenSSL reads what was judged here, and nothing else.
    """
    blocks = list(_blocks(pem))
    keys = [block for block in blocks if block.label.endswith("PRIVATE KEY")]
    certificates = [block for block in blocks if block.label == "CERTIFICATE"]
    if len(keys) != 1 or not certificates:
        raise Unusable("it must hold a certificate and its key, without a password, as PEM")
    _check_key(keys[0])
    return "".join(block.text() for block in [*keys, *certificates])


def _blocks(pem: str) -> Iterator[_Block]:
    label = ""
    body: list[str] = []
    for line in map(str.strip, pem.splitlines()):
        if line.startswith("-----BEGIN ") and line.endswith("-----"):
            label, body = line[len("-----BEGIN ") : -len("-----")], []
        elif label and line == f"-----END {label}-----":
            yield _Block(label, _decoded(label, body))
            label = ""
        else:
            body.append(line)


def _decoded(label: str, lines: list[str]) -> bytes:
    try:
        return base64.b64decode("".join(lines), validate=True)
    except binascii.Error:
        if any(":" in line for line in lines):  # a head, which says how it is encrypted
            raise Unusable(_ENCRYPTED) from None
        raise Unusable(f"its {label.lower()} is not PEM") from None


def _check_key(block: _Block) -> None:
    fields = _read(block.der)
    match block.label:
        case "RSA PRIVATE KEY":
            _check_rsa(fields)
        case "EC PRIVATE KEY":
            named = [_read_all(value) for tag, value in fields if tag == _PARAMETERS]
            _check_curve(named[0][0] if named and named[0] else (0, b""))
        case "PRIVATE KEY":
            _check_pkcs8(fields)
        case "ENCRYPTED PRIVATE KEY":
            raise Unusable(_ENCRYPTED)
        case _:
            raise Unusable(f"its key is of an unknown kind; use {KINDS}")


def _check_pkcs8(fields: list[tuple[int, bytes]]) -> None:
    if [tag for tag, _ in fields[:3]] != [_INTEGER, _SEQUENCE, _OCTETS]:
        raise Unusable("its key cannot be read")
    kind = _read_all(fields[1][1])
    name = _name(kind[0]) if kind else ""
    if name in _RSA:
        _check_rsa(_read(fields[2][1]))
    elif name == _EC:
        _check_curve(kind[1] if len(kind) > 1 else (0, b""))
    elif name not in _EDWARDS:
        raise Unusable(f"its key is of an unknown kind; use {KINDS}")


def _check_rsa(fields: list[tuple[int, bytes]]) -> None:
    """All its numbers: a key may be small, and its primes, which OpenSSL computes with, not."""
    if len(fields) != 9 or any(tag != _INTEGER for tag, _ in fields):
        raise Unusable("its key cannot be read")
    version, modulus, public, private, *parts = (
        int.from_bytes(value).bit_length() for _, value in fields
    )
    if version or max(modulus, public, private) > MOST_RSA_BITS or max(parts) > MOST_RSA_BITS // 2:
        raise Unusable(f"its RSA key has {modulus:,} bits; use {KINDS}")


def _check_curve(field: tuple[int, bytes]) -> None:
    if _name(field) not in _CURVES:
        raise Unusable(f"its key is on an unknown curve; use {KINDS}")


def _read(der: bytes) -> list[tuple[int, bytes]]:
    """The fields of a sequence."""
    outer = _read_all(der)
    if len(outer) != 1 or outer[0][0] != _SEQUENCE:
        raise Unusable("its key cannot be read")
    return _read_all(outer[0][1])


def _read_all(der: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at < len(der):
        tag, length, at = der[at], der[at + 1] if at + 1 < len(der) else 0, at + 2
        if length & 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(der[at : at + size]), at + size
        if at + length > len(der):
            raise Unusable("its key cannot be read")
        found.append((tag, der[at : at + length]))
        at += length
    return found


def _name(field: tuple[int, bytes]) -> str:
    """An object identifier in dots."""
    tag, value = field
    if tag != _OBJECT or not value:
        return ""
    numbers, number = [], 0
    for octet in value:
        number = number << 7 | octet & 0x7F
        if not octet & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2) if numbers else 0
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]])) if numbers else ""
