"""Texts and ids as PostgreSQL can hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tickwell.stores.sql import codec

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def clean(text: str | None) -> str | None:
    """Text without what would fail the batch that it is in: NUL, and lone surrogates."""
    text = codec.clean(text)
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if text else text


def tags_to_json(tags: Iterable[str]) -> str:
    """Tags, cleaned: the server takes them apart."""
    return json.dumps([clean(tag) for tag in tags])


def is_id(text: str) -> bool:
    """Whether this can be an id here; nothing is known under any other."""
    return _UUID.fullmatch(text) is not None


def ids_among(texts: Iterable[str]) -> list[str]:
    """Those that can be ids, each once."""
    return [text for text in dict.fromkeys(texts) if is_id(text)]
