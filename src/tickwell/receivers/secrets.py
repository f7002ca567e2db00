"""The secrets of a receiver: what cannot be one is refused before the first webhook comes."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.http.signature import Key, Version, read_key
from tickwell.errors import InvalidInput, InvalidSetting


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
            "is none that Standard Webhooks knows",
            field="secrets",
            hint="Give the sender's whsec_… as it is, or whpk_… of a sender that signs by ed25519",
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
