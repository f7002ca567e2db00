"""Where `{{secret.name}}` comes from; resolved when an attempt starts, and never kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from typing import Protocol
from urllib.parse import quote, quote_plus

#: What stands in for a secret in all that is kept.
HIDDEN = "***"
#: A secret shorter than this would hide half of an answer.
_SHORTEST = 4
_HEX = re.compile("%[0-9A-F]{2}")
#: In JSON that may stand in a page.
_FOR_HTML = str.maketrans({"&": r"\u0026", "<": r"\u003c", ">": r"\u003e"})


class Secrets(Protocol):
    """Gives a project's secrets."""

    async def get(self, project: str, names: Iterable[str]) -> Mapping[str, str]:
        """Those that exist."""
        ...


class NoSecrets:
    """A process that was given none."""

    async def get(self, project: str, names: Iterable[str]) -> Mapping[str, str]:
        return {}


#: For whom nothing was filled in.
HIDE_NOTHING: Callable[[str], str] = str


def hider(values: Iterable[str]) -> Callable[[str], str]:
    """Takes secrets out of a text: a receiver may send back what it got."""
    long = {value for value in values if len(value) >= _SHORTEST}
    if not long:
        return HIDE_NOTHING
    # As they stand in URLs, JSON and HTML, too; the longest first, since one may hold another.
    forms = {form for value in long for form in _forms(value)}
    hidden = sorted(forms, key=len, reverse=True)

    def hide(text: str) -> str:
        for value in hidden:
            text = text.replace(value, HIDDEN)
        # What was cut may end in the beginning of one.
        for value in hidden:
            text = _without_beginning(text, value)
        return text

    return hide


def _forms(value: str) -> Iterator[str]:
    yield value
    for quoted in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield quoted
        yield _HEX.sub(lambda found: found[0].lower(), quoted)
    yield escape(value, quote=False)
    in_html = escape(value)
    yield in_html
    yield in_html.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")  # as Go and Jinja write it
    for once in _in_json(value):
        yield once
        yield from _in_json(once)  # a body of JSON, sent back as one text in another


def _in_json(value: str) -> Iterator[str]:
    for ascii_only in (True, False):
        in_json = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield in_json
        yield in_json.replace("/", "\\/")  # as PHP writes it
        yield in_json.translate(_FOR_HTML)  # as Go and Rails write it


def _without_beginning(text: str, value: str) -> str:
    # Only where it begins alike: a long secret has many beginnings, and the loop waits meanwhile.
    start = text.find(value[:_SHORTEST], max(len(text) - len(value) + 1, 0))
    while start >= 0:
        if value.startswith(text[start:]):
            return text[:start] + HIDDEN
        start = text.find(value[:_SHORTEST], start + 1)
    return text
