"""How a secret may come back: as others write texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from urllib.parse import quote, quote_plus

#: A secret shorter than this would hide half of an answer.
SHORTEST = 4
_HEX = re.compile("%[0-9A-F]{2}")
#: In JSON that may stand in a page.
_FOR_HTML = str.maketrans({"&": r"\u0026", "<": r"\u003c", ">": r"\u003e"})


def forms(value: str) -> Iterator[str]:
    """All of them, some more than once; none for what is too short to be hidden."""
    if len(value) < SHORTEST:
        return
    yield from _in_addresses(value)
    yield from _in_texts(value)
    for once in _in_json(value):
        yield from _in_json(once)  # a body of JSON, sent back as one text in another


def _in_addresses(value: str) -> Iterator[str]:
    for quoted in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield quoted
        yield _HEX.sub(lambda found: found[0].lower(), quoted)


def _in_texts(value: str) -> Iterator[str]:
    yield value
    yield escape(value, quote=False)
    in_html = escape(value)
    yield in_html
    yield in_html.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")  # as Go and Jinja write it
    yield from _in_json(value)


def _in_json(value: str) -> Iterator[str]:
    for ascii_only in (True, False):
        in_json = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield in_json
        yield in_json.replace("/", "\\/")  # as PHP writes it
        yield in_json.translate(_FOR_HTML)  # as Go and Rails write it
