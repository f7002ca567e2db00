"""Texts of handlers and receivers, as they are kept."""

from __future__ import annotations


def clean(text: str) -> str:
    """What every store can keep and every answer can carry: no NUL, no half of a character."""
    if text.isascii():
        return text.replace("\0", "")
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
