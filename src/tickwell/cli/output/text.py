"""Texts of others on a terminal: no control characters, as wide as they are, cut to fit."""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate

from tickwell.domain.naming import is_visible
from tickwell.errors import NotFound, TickwellError, Unauthenticated

#: DEL, C1, and what breaks lines or turns the direction of text.
_LEFT_BY_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_JOINER = "\N{ZERO WIDTH JOINER}"


def safe(text: str) -> str:
    """The text with everything that steers a terminal spelled out; lines stay lines."""
    if is_visible(text):
        return text
    text = text.replace("\r\n", "\n")
    return "".join(each if each.isprintable() or each == "\n" else _spelled(each) for each in text)


def escaped(text: str) -> str:
    """JSON with the controls spelled out that JSON itself leaves as they are, as C1 and DEL."""
    return _LEFT_BY_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """The same in one line, as a cell of a table needs it."""
    return safe(" ".join(text.split("\n"))).strip() if "\n" in text else safe(text)


def width_of(text: str) -> int:
    """Columns that it takes: letters of East Asia take two, accents and joiners none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def fit(text: str, width: int) -> str:
    """Cut, with a mark that something is missing."""
    if width_of(text) <= width:
        return text
    taken = accumulate(map(_columns, text))
    cut = "".join(each for each, columns in zip(text, taken, strict=True) if columns < width)
    return f"{cut.rstrip(_JOINER)}…"


def _columns(character: str) -> int:
    # A joiner, a sign that turns the direction, an accent, and what asks for a coloured picture.
    if unicodedata.category(character) in {"Cf", "Mn", "Me"}:
        return 0
    return 1 + (unicodedata.east_asian_width(character) in "WF")


def _spelled(character: str) -> str:
    return " " if character == "\t" else character.encode("unicode_escape").decode()


#: Kinds of records, and the command that lists them.
_LISTS = {
    "job": "jobs list",
    "execution": "executions list",
    "worker": "workers",
    "project": "projects list",
    "user": "users list",
    "member": "members list",
    "key": "keys list",
    "secret": "secrets list",
    "callback": "callbacks list",
}


def advised(error: TickwellError) -> str:
    """The error as a sentence that ends with what to do."""
    if isinstance(error, NotFound) and error.kind in _LISTS:
        return f"{error}; see: tickwell {_LISTS[error.kind]}"
    if isinstance(error, Unauthenticated):
        what = str(error).partition(";")[0]
        return f"{what}; set TICKWELL_KEY or --api-key; tickwell keys add creates a key"
    return str(error)
