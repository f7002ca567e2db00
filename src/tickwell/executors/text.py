"""Texts of handlers and receivers, as they are kept."""

from __future__ import annotations

from tickwell.log.text import redacted

#: Characters before the end of a text that are looked at as well: half of a secret, such as a
#: private key, does not look like one.
_MARGIN = 4_096


def clean(text: str) -> str:
    """What every store can keep and every answer can carry: no NUL, no half of a character."""
    if text.isascii():
        return text.replace("\0", "")
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def said(error: BaseException) -> str:
    """What an exception says, clean; the name of its class where it says nothing, or fails to."""
    try:
        return clean(str(error)) or type(error).__name__
    except Exception:  # noqa: BLE001 - exceptions of users may do anything
        return type(error).__name__


def shown(text: str) -> str:
    """What people may see of it: clean, and without what looks like a secret, as in logs."""
    return redacted(clean(text))


def end_of(text: str, most: int) -> str:
    """The same of its end, where an error has its cause."""
    text = text.rstrip()
    end = shown(text[-most - _MARGIN :])
    is_whole = len(text) <= most + _MARGIN and len(end) <= most
    return end if is_whole else "…" + end[-most:]
