"""A response as it is stored: counted, cut, and valid Unicode whatever was sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

#: Bytes of a body that are read; the connection is closed on the rest.
MOST_READ = 64 * 1024

_CHARSET = re.compile(r"charset\s*=\s*\"?([A-Za-z0-9_-]+)", re.IGNORECASE)
#: Of the rest Python knows some that are no text at all, and some that are slow.
_CHARSETS = {"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"}
_UNKEPT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: What stands for what cannot be read or kept.
REPLACED = "\N{REPLACEMENT CHARACTER}"


@dataclass(slots=True)
class Answer:
    """What came back."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    #: Whether the body ended within what is read.
    complete: bool

    def text(self, limit: int) -> str:
        """The beginning of the body."""
        encoding = self.headers.get("Content-Encoding")
        if encoding is not None and encoding.strip().lower() != "identity":
            # It was not asked for, and may unpack to anything.
            return f"({len(self.body)} bytes, compressed)"[:limit]
        raw = self.body[: 4 * limit + 4]  # no character takes more bytes
        # In ASCII all charsets agree, and most answers are in it.
        charset = "ascii" if raw.isascii() else _charset(self.headers.get("Content-Type", ""))
        text = raw.decode(charset, "replace")[:limit]
        if not self.complete:
            text = text.removesuffix(REPLACED)  # the first half of a character
        return without_controls(text)


def without_controls(text: str) -> str:
    """The text as it is kept."""
    # Most answers are one line, and asking costs less than looking for what to replace.
    return text if text.isprintable() else _UNKEPT.sub(REPLACED, text)


@lru_cache(maxsize=256)
def _charset(content_type: str) -> str:
    found = _CHARSET.search(content_type)
    return found[1].lower() if found and found[1].lower() in _CHARSETS else "utf-8"
