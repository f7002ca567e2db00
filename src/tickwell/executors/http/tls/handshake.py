"""TLS with receivers: they may ask only for what is cheap, as it is computed in the event loop.

Measured, for one handshake: 1 to 3 ms with elliptic curves; 0.9 s with DHE and a modulus of 10,000
bits in TLS 1.2; 0.15 s with the group ffdhe8192 of TLS 1.3; 80 ms with a chain of 220 certificates.
See decision 17.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path
from typing import Any, Self

from tickwell.executors.http.request.values import Unsendable
from tickwell.executors.http.tls.client_key import Unusable, checked_pem


def load(context: ssl.SSLContext, pem: str) -> None:
    """Give a context the certificate and key of a PEM text."""
    try:
        text = checked_pem(pem)
    except Unusable as error:
        raise Unsendable(f"the client certificate cannot be used: {error}") from None
    # OpenSSL reads them from a file only: one that nobody else may read, for a moment.
    handle, path = tempfile.mkstemp(prefix="tickwell-", suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        context.load_cert_chain(path)
    except (ssl.SSLError, ValueError, OSError):
        raise Unsendable(
            "the client certificate cannot be used: its key cannot be read, or belongs to another"
            " certificate"
        ) from None
    finally:
        Path(path).unlink()


_ALERT, _HANDSHAKE = 21, 22
_SERVER_HELLO = 2
_KEY_SHARE = 51
#: The code points of groups over finite fields, RFC 7919.
_FINITE_FIELDS = range(0x0100, 0x0200)
#: Bytes of alerts before the hello, and of a record: each read looks at them again.
_MOST_ALERTS, _LARGEST_RECORD = 70, 16_384 + 256
#: Bytes of a server's handshake. Chains of certificates take 2 to 10 KiB.
MOST_RECEIVED = 32 << 10
#: The random of a ServerHello that asks for another group, RFC 8446.
_RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


def harden(context: ssl.SSLContext) -> ssl.SSLContext:
    """Let a context offer ECDHE and TLS 1.3 only, of what it offers now."""
    context.minimum_version = max(context.minimum_version, ssl.TLSVersion.TLSv1_2)
    offered = (each["name"] for each in context.get_ciphers())
    if names := [name for name in offered if name.startswith("ECDHE-")]:
        context.set_ciphers(":".join(names))
    else:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.sslobject_class = EllipticOnly
    return context


class EllipticOnly(ssl.SSLObject):
    """Ends a handshake whose server asks for a group over a finite field, or sends a flood.

    Python cannot say which groups of TLS 1.3 a client offers, but for a single one.
    """

    _incoming: ssl.MemoryBIO
    _is_judged = False
    #: Bytes that OpenSSL has taken.
    _taken = 0

    @classmethod
    def _create(cls, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, **options: Any) -> Self:
        made: Self = super()._create(incoming, outgoing, **options)  # type: ignore[misc]
        made._incoming = incoming
        return made

    def do_handshake(self) -> None:
        """Go on, once the server's first message was found to be harmless."""
        if not self._is_judged:
            received = self._incoming.read()
            self._incoming.write(received)
            self._is_judged = is_harmless(received)
        pending = self._incoming.pending
        if self._taken + pending > MOST_RECEIVED:
            raise _refusal(f"sends more than {MOST_RECEIVED >> 10} KiB in its handshake")
        try:
            super().do_handshake()
        finally:
            self._taken += pending - self._incoming.pending


def is_harmless(received: bytes) -> bool:
    """Whether the server's hello is there; `ssl.SSLError` if it asks for a slow group.

    `ssl.SSLWantReadError` when it is there in part only: OpenSSL would take that away.
    """
    at = 0
    while at < len(received):
        if received[at + 1 : at + 2] not in {b"", b"\x03"}:
            return True  # not TLS, as OpenSSL will say
        end = at + 5 + int.from_bytes(received[at + 3 : at + 5])
        if end - at > 5 + _LARGEST_RECORD:
            raise _refusal("sends a record that is too large")
        if len(received) < max(end, at + 5):
            raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "the hello is not complete")
        if received[at] == _HANDSHAKE:
            _judge(received[at + 5 : end])
            return True
        if received[at] != _ALERT:  # which may be a warning only
            raise _refusal("sends something else before its hello")
        at = end
        if at > _MOST_ALERTS:
            raise _refusal("sends too many alerts before its hello")
    return False


def _judge(message: bytes) -> None:
    if message[:1] != bytes([_SERVER_HELLO]):
        raise _refusal("sends something else before its hello")
    size = int.from_bytes(message[1:4])
    if len(message) < 4 + size or size < 38:
        raise _refusal("sends its hello in pieces")
    hello = message[4 : 4 + size]
    if hello[2:34] == _RETRY and any(group in _FINITE_FIELDS for group in _groups(hello)):
        raise _refusal("asks for Diffie-Hellman over a finite field, which takes too long")


def _groups(hello: bytes) -> list[int]:
    """The groups that the extensions of a hello ask for."""
    found = []
    at = 35 + hello[34] + 2 + 1 + 2  # session, cipher, compression, size of the extensions
    while at + 4 <= len(hello):
        kind, size = int.from_bytes(hello[at : at + 2]), int.from_bytes(hello[at + 2 : at + 4])
        if kind == _KEY_SHARE:
            found.append(int.from_bytes(hello[at + 4 : at + 6]))
        at += 4 + size
    return found


def _refusal(what: str) -> ssl.SSLError:
    return ssl.SSLError(ssl.SSL_ERROR_SSL, f"the receiver {what}")
