"""Texts and ids as every database can hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def clean(text: str | None) -> str | None:
    """Text without what would fail the batch that it is in: NUL, and lone surrogates."""
    if text is None:
        return None
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def tags_to_json(tags: Iterable[str]) -> str:
    """Tags, cleaned: the database takes them apart."""
    return json.dumps([clean(tag) for tag in tags])


def is_id(text: str) -> bool:
    """Whether this can be an id where the database has a type for them."""
    return _UUID.fullmatch(text) is not None


def ids_among(texts: Iterable[str]) -> list[str]:
    """Those that can be ids, each once."""
    return [text for text in dict.fromkeys(texts) if is_id(text)]
