"""Bodies: strict JSON within bounds, read once, refused as soon as a bound is passed."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain
from math import isfinite
from typing import Any, NoReturn

import orjson
from fastapi import Request

from tickwell.errors import InvalidInput
from tickwell.web.json_pointer import BODY
from tickwell.web.problems import NotJson, NotJsonType, TooLarge

#: Bytes of one job, or of any other single record.
ONE = 256 * 1024
#: Bytes of a batch.
MANY = 1024 * 1024
DEEPEST = 32
MOST_KEYS = 1000
LONGEST_TEXT = 64 * 1024


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


class _Unfit(Exception):
    """What a bound refuses; its place is added on the way out."""

    def __init__(self, reason: str, *path: str) -> None:
        self.reason = reason
        self.path = list(path)
        super().__init__(reason)


async def read_bytes(request: Request, limit: int = ONE) -> bytes:
    """The body as it came; refused before it is read when it says that it is too large."""
    headers = request.headers
    length = headers.get("content-length")
    if length is not None and length.isdecimal() and int(length) > limit:
        _too_large(limit)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            _too_large(limit)
        parts.append(part)
    body = request.scope["state"][BODY] = b"".join(parts)
    if body and not _is_json(headers.get("content-type", "")):
        raise NotJsonType("the body must be application/json, and its Content-Type must say so")
    return body


async def read_json(request: Request, limit: int = ONE) -> Any:
    """The body as a document."""
    return parsed(await read_bytes(request, limit))


async def read_object(request: Request, *known: str, limit: int = ONE) -> dict[str, Any]:
    """The body as an object with some of these fields; no body is an empty object."""
    return object_of(await read_bytes(request, limit), *known)


def object_of(body: bytes, *known: str) -> dict[str, Any]:
    """The object that a body holds, with some of these fields; no body is an empty object."""
    document = parsed(body) if body else {}
    if not isinstance(document, dict):
        raise InvalidInput("the body must be an object")
    for name in document:
        if name not in known:
            raise InvalidInput(
                "is not a known field",
                field=name,
                hint=f"Expected one of {', '.join(known)}" if known else "No body is needed",
            )
    return document


def parsed(body: bytes, what: str = "the body") -> Any:
    """The document that the bytes hold: JSON, each key once, within the bounds."""
    document = plainly(body)
    if document is not None:
        return document
    try:
        document = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_constant)
        _check(document, 1)
    except _Unfit as error:
        where = ".".join(reversed(error.path))
        raise InvalidInput(error.reason, field=where) from None
    except RecursionError:
        raise InvalidInput(f"is nested more than {DEEPEST} deep") from None
    except UnicodeDecodeError as error:
        raise NotJson(f"{what} is not UTF-8, from byte {error.start} on") from None
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"{what} is not JSON: {error.msg}, {position}") from None
    except ValueError:
        raise NotJson(f"{what} has a number with too many digits") from None
    return document


class _Twice(dict[str, Any]):
    """An object that has a key twice; where it is, is known when all is read."""

    key = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = _Twice(found)
    names = Counter(key for key, _ in pairs)
    twice.key = _readable(max(names, key=names.__getitem__))
    return twice


def _constant(name: str) -> NoReturn:
    raise NotJson(f"JSON has no number {name}")


def _check(value: Any, depth: int) -> None:
    """Texts, numbers and depth of a value; what is short and plain is passed quickly."""
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        _check_keys(value)
        for key, inner in value.items():
            try:
                _check_text(key)
                _check_inner(inner, depth)
            except _Unfit as error:
                error.path.append(_readable(key))
                raise
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            if type(inner) is int and inner.bit_length() < 64:
                continue  # without a call: half a million of them fit into a body
            try:
                _check_inner(inner, depth)
            except _Unfit as error:
                error.path.append(str(number))
                raise
    elif isinstance(value, int | float):
        _check_number(value)


def _check_keys(value: dict[str, Any]) -> None:
    if isinstance(value, _Twice):
        raise _Unfit("is given twice", value.key)
    if len(value) > MOST_KEYS:
        raise _Unfit(f"an object has {MOST_KEYS} fields at most")


def _check_number(value: float) -> None:
    if isinstance(value, int):
        if value.bit_length() > 63:
            raise _Unfit("a whole number may have at most 64 bits")
    elif not isfinite(value):
        raise _Unfit("is too large a number")


def _check_inner(value: Any, depth: int) -> None:
    if depth >= DEEPEST and isinstance(value, dict | list):
        raise _Unfit(f"is nested more than {DEEPEST} deep")
    _check(value, depth + 1)


def _check_text(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise _Unfit(f"a text has {LONGEST_TEXT} characters at most")
    if "\0" in text:
        raise _Unfit("a text has no NUL in it")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _Unfit("contains an unpaired surrogate") from None


def _readable(key: str) -> str:
    """A key as an answer can name it, whatever is in it."""
    return key[:64].encode(errors="replace").decode()


def _is_json(media_type: str) -> bool:
    kind = media_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


def _too_large(limit: int) -> NoReturn:
    raise TooLarge(f"the body has more than {limit} bytes")
