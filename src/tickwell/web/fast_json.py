"""Bodies that are plainly within the bounds: parsed in a fifth of the time of a careful look."""

from __future__ import annotations

from itertools import chain
from typing import Any

import orjson

from tickwell.web.bounds import DEEPEST, LONGEST_TEXT, MOST_KEYS

_SPACES = b" \t\r\n"
#: A whole number that may not fit into 64 bits, where every digit is a zero.
_LARGE = b"0" * 18
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_BLOCK = LONGEST_TEXT // 2
_NESTS = (dict, list)
#: Levels that a part of a batch may have, which is inside of two.
_FEW = DEEPEST - 2
_dump = orjson.dumps


def plainly(body: bytes) -> Any:
    """The document; None where only a careful look can tell, or can say what is wrong."""
    # Without a backslash a quote ends a text, there is no NUL, and no half of a character.
    if b"\\" in body or _LARGE in body.translate(_ZEROS) or not _has_short_texts(body):
        return None
    try:
        document = orjson.loads(body)
        written = _dump(document)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # it reads deeper than it writes
        return None
    bare = body.translate(None, _SPACES)
    # What is written back as it came has no key twice.
    if written.translate(None, _SPACES) == bare and _is_small(document, bare):
        return document
    return document if _count_keys(document) == bare.count(b'":') else None


def _is_small(document: Any, bare: bytes) -> bool:
    """Whether it, or of a batch each of its parts, can be neither too deep nor too wide."""
    if _fits(bare):
        return True
    parts = [*document.values()] if type(document) is dict else []
    return len(parts) == 1 and type(parts[0]) is list and all(map(_fits, map(_dump, parts[0])))


def _fits(text: bytes) -> bool:
    return text.count(b'":') <= MOST_KEYS and text.count(b"{") + text.count(b"[") <= _FEW


def _has_short_texts(body: bytes) -> bool:
    """A text that is too long would fill a whole block."""
    ends = range(_BLOCK, len(body) + 1, _BLOCK)
    return all(b'"' in body[end - _BLOCK : end] for end in ends)


def _count_keys(document: Any) -> int:
    """The keys of all objects; one that was given twice is there once. -1: a bound is passed."""
    count = 0
    level: list[Any] = [[document]]
    for _ in range(DEEPEST + 1):
        objects = [each for each in level if type(each) is dict]
        sizes = [*map(len, objects)]
        if max(sizes, default=0) > MOST_KEYS:
            return -1
        count += sum(sizes)
        lists = (each for each in level if type(each) is list)
        values = chain.from_iterable(chain(map(dict.values, objects), lists))
        level = [value for value in values if type(value) in _NESTS]
        if not level:
            return count
    return -1
