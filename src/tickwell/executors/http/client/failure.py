"""Errors of connections as messages for people."""

from __future__ import annotations

import ssl

import aiohttp

from tickwell.executors.http.client.connections import MOST_RECEIVED, Flood

#: What receivers say of client certificates, by how the alert's name ends.
_ALERTS = {
    "ALERT_CERTIFICATE_REQUIRED": "it asks for a client certificate: give the target one",
    "ALERT_UNKNOWN_CA": "it does not know the authority of the client certificate",
    "ALERT_HANDSHAKE_FAILURE": (
        "the handshake failed; perhaps it asks for a client certificate, or has neither TLS 1.3 nor"
        " ECDHE"
    ),
}


class Failure(Exception):
    """No answer that can be used; another attempt may get one."""


def words_of(error: BaseException) -> str:
    """One sentence for a person who looks at an execution."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            text = f"{error.host} cannot be resolved: {_cause(error.os_error)}"
        case aiohttp.ClientConnectorCertificateError():
            text = f"{error.host} presents a certificate that is refused: {_cause(error)}"
        case aiohttp.ClientConnectorSSLError():
            text = f"{error.host}:{error.port} does not agree on TLS: {_cause(error.os_error)}"
        case aiohttp.ClientConnectorError():
            text = f"{error.host}:{error.port} cannot be reached: {_cause(error.os_error)}"
        case Flood():
            text = f"the receiver sent more than {MOST_RECEIVED >> 20} MiB besides its response"
        case aiohttp.ClientPayloadError():
            text = "the response ended early, or its framing is invalid"
        case aiohttp.ClientResponseError():
            # The lines after the first one quote and point at what was sent.
            reason = error.message.partition("\n")[0].rstrip(":")
            text = f"the answer is not HTTP: {reason[:200]}"
        case aiohttp.ServerDisconnectedError() | ConnectionResetError():
            text = "the receiver closed the connection without a response"
        case aiohttp.ClientOSError(__cause__=ssl.SSLError() as cause):
            text = f"the receiver does not agree on TLS: {_cause(cause)}"
        case _:
            text = f"{type(error).__name__}: {str(error)[:200]}"
    return text


def _cause(error: BaseException) -> str:
    found = getattr(error, "certificate_error", error)
    if text := getattr(found, "verify_message", None):
        return str(text)[:200]
    reason = getattr(found, "reason", None) if isinstance(found, ssl.SSLError) else None
    if reason:  # WRONG_VERSION_NUMBER
        alert = (words for end, words in _ALERTS.items() if reason.endswith(end))
        return next(alert, reason.lower().replace("_", " "))
    return str(getattr(found, "strerror", None) or found)[:200] or "connection closed"
