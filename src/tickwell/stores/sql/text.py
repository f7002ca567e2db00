"""Texts and ids as every database can hold them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tickwell.ids import is_id

try:
    import orjson
except ImportError:  # it comes with the server
    orjson = None  # type: ignore[assignment]

#: Before every id.
FIRST_ID = "00000000-0000-0000-0000-000000000000"


def clean(text: str | None) -> str | None:
    """Text without what would fail the batch that it is in: NUL, and lone surrogates."""
    if text is None:
        return None
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def document_to_text(document: Any) -> str:
    """A document as text."""
    return quick_json(document) or json.dumps(document)


def quick_json(value: Any) -> str | None:
    """JSON in a tenth of the time where orjson is installed, and can do it; else None."""
    if orjson is not None:
        try:
            return orjson.dumps(value).decode()
        except orjson.JSONEncodeError:  # half of a character, or a large number
            pass
    return None


def read_own_json(text: str) -> Any:
    """JSON of what we put into columns ourselves: quick, and without numbers beyond 64 bits."""
    return json.loads(text) if orjson is None else orjson.loads(text)


@lru_cache(maxsize=1024)
def tags_to_json(tags: tuple[str, ...]) -> str:
    """Tags, cleaned: the database takes them apart. Many jobs have the same."""
    return json.dumps([clean(tag) for tag in tags])


def ids_among(texts: Iterable[str]) -> list[str]:
    """Those that can be ids, each once."""
    return [text for text in dict.fromkeys(texts) if is_id(text)]
