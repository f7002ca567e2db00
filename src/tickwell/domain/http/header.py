"""Headers: what may be sent, checked when a target is made and again when it is rendered."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tickwell.domain.http.template import checked
from tickwell.errors import InvalidJob

MOST = 50
#: Bytes of one header, name and value.
LARGEST = 8 * 1024

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
#: Made by the client from what is sent, or said by one hop to the next.
_OWN = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "upgrade",
        "expect",
    }
)
_OWN_PREFIXES = ("webhook-", "tickwell-", "proxy-")
_FIELD = "target.http.headers"


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse what would break the request, or what only Tickwell may say."""
    if len(headers) > MOST:
        raise InvalidJob(f"{len(headers)} headers are more than {MOST}", field=_FIELD)
    seen = set()
    for name, value in headers.items():
        check_header(name, value)
        if name.lower() in seen:
            raise InvalidJob(f"{name!r} is given twice", field=_FIELD)
        seen.add(name.lower())
        checked(value, f"{_FIELD}.{name}")


def check_header(name: str, value: str) -> None:
    """One header, as it will be sent."""
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise InvalidJob(
            f"{str(name)[:50]!r} is not a header name",
            field=_FIELD,
            hint="Use letters, digits and hyphens",
        )
    lower = name.lower()
    if lower in _OWN or lower.startswith(_OWN_PREFIXES):
        raise InvalidJob(
            "is set by Tickwell and cannot be chosen", field=f"{_FIELD}.{name}", hint="Leave it out"
        )
    if not isinstance(value, str):
        raise InvalidJob("is not a text", field=f"{_FIELD}.{name}", hint=f'Write "{value}"')
    reason = unsendable(value)
    if reason:
        raise InvalidJob(reason, field=f"{_FIELD}.{name}", hint="Leave it out, or encode it")
    if len(name) + len(value.encode()) > LARGEST:
        raise InvalidJob(f"is larger than {LARGEST} bytes", field=f"{_FIELD}.{name}")


def unsendable(value: str) -> str | None:
    """Why a value cannot stand in a header, or None."""
    if _CONTROL.search(value):
        return "a line break or control character is in the value"
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return "a character is in the value that a header cannot carry"
    return None
