"""Who sent it: the signature is checked before anything else is believed."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tickwell.clock import wall_millis
from tickwell.domain.http.signature import (
    Key,
    Version,
    hmac_signature,
    read_key,
    signed_bytes,
)
from tickwell.domain.trigger.duration import Duration, Millis, format_duration, parse_duration
from tickwell.errors import InvalidInput, InvalidSetting, TickwellError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What to know of a webhook before its body is looked at."""

    #: The same for all attempts: what to deduplicate effects by.
    id: str
    #: The second of this attempt.
    timestamp: int
    #: The attempt's number; 0 if the sender does not count.
    attempt: int = 0
    #: The nominal instant that it belongs to.
    fire_time: datetime | None = None
    #: The id of the job.
    job: str | None = None


def read_delivery(headers: Mapping[str, str], id: str, timestamp: int) -> Delivery:
    """With what Tickwell says besides the standard. Neither attempt nor job is signed."""
    attempt = headers.get("tickwell-attempt", "")[:10]
    return Delivery(
        id=id,
        timestamp=timestamp,
        attempt=int(attempt) if attempt.isascii() and attempt.isdigit() else 0,
        fire_time=_moment(headers.get("tickwell-fire-time")),
        job=headers.get("tickwell-job"),
    )


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def read_secrets(secrets: str | Sequence[str]) -> list[Key]:
    """The keys to verify with, one at least; `InvalidSetting` does not tell what was given."""
    keys = [_read(text) for text in ([secrets] if isinstance(secrets, str) else secrets or ())]
    if not keys:
        raise InvalidSetting("a secret is needed", field="secrets", hint="For example whsec_…")
    if any(key.version is Version.ED25519 for key in keys):
        _require_ed25519()
    return keys


def _read(text: str) -> Key:
    try:
        return read_key(text)
    except (InvalidInput, AttributeError):  # no text at all: a variable that is not set
        raise InvalidSetting(
            "is not a Standard Webhooks secret",
            field="secrets",
            hint="Give the sender's whsec_… unchanged, or whpk_… of a sender that signs by ed25519",
        ) from None


def _require_ed25519() -> None:
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise InvalidSetting(
            "verifying by ed25519 needs the package cryptography",
            field="secrets",
            hint="Install it: pip install 'tickwell[signing-ed25519]'",
        ) from None


#: How far a timestamp may be off, either way.
TOLERANCE = "5m"
#: Signatures that are looked at: a header of thousands is an attack on the processor.
MOST_SIGNATURES = 16
#: Without a dot, which separates what is signed.
_ID = re.compile(r"[\x21-\x2d\x2f-\x7e]{1,256}")
_STAMP = re.compile(r"[0-9]{1,12}")


class Rejected(TickwellError):
    """The webhook is not to be trusted; answer with `status`, and do nothing else."""

    status = 401


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: Duration = TOLERANCE,
    now: float | None = None,
) -> Delivery:
    """The delivery, if one of the secrets signed these very bytes just now; else `Rejected`.

    Secrets are `whsec_…`, or `whpk_…` for ed25519; several while a key is rotated.
    """
    millis = parse_duration(tolerance, field="tolerance")
    return verify_by(read_secrets(secrets), body, headers, tolerance=millis, now=now)


def verify_by(
    keys: Sequence[Key],
    body: bytes,
    headers: Mapping[str, str],
    *,
    tolerance: Millis,
    now: float | None = None,
) -> Delivery:
    """The same by keys that were read before."""
    _refuse_text(body)
    lower = {name.lower(): value for name, value in headers.items()}
    id, stamp = lower.get("webhook-id", ""), lower.get("webhook-timestamp", "")
    if not _ID.fullmatch(id) or not _STAMP.fullmatch(stamp):
        raise Rejected("webhook-id or webhook-timestamp is missing, or malformed")
    timestamp = int(stamp)
    moment = wall_millis() / 1000 if now is None else now
    if abs(moment - timestamp) * 1000 > tolerance:
        raise Rejected(f"the timestamp is more than {format_duration(tolerance)} off")
    message = signed_bytes(id, timestamp, body)
    signatures = lower.get("webhook-signature", "").split(" ")[:MOST_SIGNATURES]
    if not any(_matches(key, message, signature) for key in keys for signature in signatures):
        raise Rejected("no signature matches")
    return read_delivery(lower, id, timestamp)


def _refuse_text(body: object) -> None:
    if isinstance(body, str):
        raise InvalidInput(
            "is a text, and bytes are signed",
            field="body",
            hint="Give the bytes that came, before they are decoded or parsed",
        )


def _matches(key: Key, message: bytes, signature: str) -> bool:
    version, _, encoded = signature.partition(",")
    if version != key.version:
        return False
    if key.version is Version.HMAC:
        made = hmac_signature(key, message).encode()
        return hmac.compare_digest(made, signature.encode(errors="replace"))
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return False
    return _ed25519_matches(key, message, raw)


def _ed25519_matches(key: Key, message: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

    try:
        _public_key(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _public_key(key: Key) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - an extra

    if key.public:
        return ed25519.Ed25519PublicKey.from_public_bytes(key.value)
    return ed25519.Ed25519PrivateKey.from_private_bytes(key.value).public_key()
