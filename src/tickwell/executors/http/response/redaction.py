"""Redaction: secrets are taken out of what is stored, since a receiver may echo what it got.

A secret may come back as it was sent, as others read it, as they write texts, or cut in the middle.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from html import escape
from itertools import count, islice
from typing import ParamSpec, TypeVar
from urllib.parse import quote, quote_plus

from tickwell.executors.http.response.answer import REPLACED, without_controls

#: What stands in for a secret in everything that is stored.
REDACTED = "***"
#: Characters of secrets whose forms are worked out in the loop: 5 ms at most.
FEW = 4 * 1024
#: Characters that all forms of the secrets of one attempt may have, worked out in 30 ms. A usual
#: key has one form, a certificate 13, a text with signs of every kind 68.
MOST_FORMS = 2 * 1024 * 1024
#: Characters to look at, once for each form: up to 15 ms in the loop, up to 0.1 s in a thread.
FEW_LOOKS, MOST_LOOKS = 1024 * 1024, 64 * 1024 * 1024
#: A shorter text takes as long as one of so many characters, at worst.
_SHORT = 4000

Params = ParamSpec("Params")
Result = TypeVar("Result")


class Redactor:
    """Removes some secrets from texts. Where there is too much to search, it removes the text."""

    __slots__ = ("_forms", "_size")

    def __init__(self, values: Iterable[str] = ()) -> None:
        found: set[str] = set()
        size = 0
        for value in set(values):
            new = {*forms(value)} - found
            found |= new
            size += sum(map(len, new))
            if size > MOST_FORMS:
                break
        #: The longest first, since one may hold another.
        self._forms = sorted(found, key=len, reverse=True)
        self._size = size

    def looks(self, *lengths: int) -> int:
        """Characters to look at in texts of these lengths."""
        return len(self._forms) * sum(max(length, _SHORT) for length in lengths)

    def __call__(self, text: str) -> str:
        """The text without them."""
        if not self._forms or not text:
            return text
        if self._size > MOST_FORMS or self.looks(len(text)) > MOST_LOOKS:
            return REDACTED
        text = self._without_whole(text)
        # What was cut may end in the beginning of one.
        for form in self._forms:
            cut = overlap(text, form)
            if cut:
                text = text[:-cut] + REDACTED
        return text

    def each(self, texts: Sequence[str]) -> list[str]:
        """Several texts without them."""
        if self.looks(*map(len, texts)) > MOST_LOOKS:
            return [REDACTED] * len(texts)
        return [*map(self, texts)]

    def _without_whole(self, text: str) -> str:
        found = padded(text, *self._forms)
        padding = found[len(text) :]
        for form in self._forms:
            found = found.replace(form, REDACTED)
        return found.removesuffix(padding)


#: For requests without secrets.
NO_REDACTION = Redactor()


async def make_redactor(values: Collection[str]) -> Redactor:
    """One for these secrets, made in a thread where they are long."""
    is_much = sum(map(len, values)) > FEW
    return await asyncio.to_thread(Redactor, values) if is_much else Redactor(values)


async def off_loop(
    looks: int, do: Callable[Params, Result], *arguments: Params.args, **named: Params.kwargs
) -> Result:
    """Call it, in a thread where it takes that many looks."""
    if looks > FEW_LOOKS:
        return await asyncio.to_thread(do, *arguments, **named)
    return do(*arguments, **named)


#: Characters of a secret. Redacting a shorter one would redact half of a response.
SHORTEST = 4
_HEX = re.compile("%[0-9A-F]{2}")
#: In JSON that may stand in a page.
_FOR_HTML = str.maketrans({"&": r"\u0026", "<": r"\u003c", ">": r"\u003e"})
#: As .NET writes JSON: more is escaped, in capitals.
_FOR_NET = str.maketrans({sign: f"\\u{ord(sign):04X}" for sign in "&<>+'`"})
_ESCAPE = re.compile(r'\\u[0-9a-f]{4}|\\"')
#: What HTTP takes away at the ends of a header, and one language or another when it trims a text.
_BLANK = "".join(map(chr, [*range(0x21), 0x7F, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C)]))
_BLANK += "\u2028\u2029\u202f\u205f\u3000\ufeff"


def core(value: str) -> str:
    """What is left of a secret that was trimmed."""
    return value.strip(_BLANK)


def forms(value: str) -> Iterator[str]:
    """How a secret may come back, some forms more than once; none if it is too short to redact."""
    if len(value) < SHORTEST:
        return
    sent = _trimmed(value)
    yield from _in_addresses(sent)
    for read in {sent, *map(_trimmed, _readings(sent))}:
        yield from _in_texts(read)
    if "\n" in sent:
        yield from _in_texts(sent.replace("\r\n", "\n").replace("\n", "\r\n"))
        yield from _in_texts(sent.replace("\r\n", "\n"))
    for once in _in_json(sent):
        yield from _in_json(once)  # a body of JSON, sent back as one text in another


def _trimmed(value: str) -> str:
    """Where it stands whole, blanks around it tell nothing; nor does little among blanks."""
    left = core(value)
    return left if len(left) >= SHORTEST else value


def _readings(value: str) -> Iterator[str]:
    """As it is kept, and after a mistake about its charset, by the receiver or by us."""
    read = [value]
    if not value.isascii():
        # A header goes out as UTF-8, which many read as Latin-1.
        sent = value.encode(errors="replace")
        read += [sent.decode(charset, "replace") for charset in ("latin-1", "cp1252", "ascii")]
        read += [value.encode("latin-1", "replace").decode(errors="replace")]
    for each in map(without_controls, read):
        if len(each) - each.count(REPLACED) >= SHORTEST:
            yield each


def _in_addresses(value: str) -> Iterator[str]:
    # The last as JavaScript writes it.
    kept = ("", "/", "!'()*")
    for quoted in (*(quote(value, safe=safe) for safe in kept), quote_plus(value)):
        yield quoted
        yield _HEX.sub(lambda found: found[0].lower(), quoted)


def _in_texts(value: str) -> Iterator[str]:
    yield value
    yield escape(value, quote=False)
    in_html = escape(value)
    yield in_html
    yield in_html.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")  # as Go and Jinja write it
    yield in_html.replace("&#x27;", "&apos;")  # as XML has it
    yield from _in_json(value)


def _capital(found: re.Match[str]) -> str:
    text = found[0]
    return r"\u0022" if text == r"\"" else r"\u" + text[2:].upper()


def _in_json(value: str) -> Iterator[str]:
    for ascii_only in (True, False):
        in_json = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield in_json
        yield in_json.replace("/", "\\/")  # as PHP writes it
        yield in_json.translate(_FOR_HTML)  # as Go and Rails write it
    yield _ESCAPE.sub(_capital, json.dumps(value)[1:-1].translate(_FOR_NET))


#: Positions that are tried one by one; few secrets repeat themselves.
_TRIES = 16


def overlap(text: str, value: str) -> int:
    """Characters at the end of the text that are a beginning of the value; 0: too few to tell."""
    most = min(len(text), len(value) - 1)
    start = len(text) - most - 1
    for _ in range(_TRIES):
        start = text.find(value[:SHORTEST], start + 1)
        if start < 0:
            return 0
        if value.startswith(text[start:]):
            return len(text) - start
    # A secret such as "aaaa…" has a position at every character: each would be compared in full.
    return _longest(text[start + 1 :], value)


def _longest(text: str, value: str) -> int:
    """The same where the text is shorter than the value, without a look at each position."""
    half = SHORTEST << max(len(text) // SHORTEST, 1).bit_length() - 1
    while half >= SHORTEST:
        end = text[1 - 2 * half :]
        # Of lengths from one half to less than two: what begins with the first half of the value,
        # and ends where the last half of the text is in the value, is a beginning of all of it.
        ended = _positions(end[-half:], value[: len(end)])
        begun = _positions(value[:half], end) if ended else ended
        found = _last_of_both(
            range(len(end) - begun.stop + 1, len(end) - begun.start + 1, begun.step),
            range(ended.start + half, ended.stop + half, ended.step),
        )
        if found:
            return found
        half //= 2
    return 0


def _last_of_both(one: range, other: range) -> int:
    """The last number that is in both; 0: none."""
    if not one or not other:
        return 0
    fine, coarse = sorted((one, other), key=lambda numbers: numbers.step)
    within = coarse[: max((fine[-1] - coarse[0]) // coarse.step + 1, 0)]
    # After as many steps as the fine one takes to the next number, remainders repeat themselves.
    last = islice(reversed(within), fine.step)
    return next((number for number in last if number in fine), 0)


def _positions(part: str, text: str) -> range:
    """All positions of a part in a text that is less than twice as long.

    Any two overlap, so that the part repeats itself at their distance: it is always the same one.
    """
    forward = padded(text, part)
    first = forward.find(part)
    if first < 0:
        return range(0)
    second = forward.find(part, first + 1)
    if second < 0:
        return range(first, first + 1)
    backward = padded(text[::-1], part).find(part[::-1])  # `rfind` takes quadratic time
    return range(first, len(text) - len(part) - backward + 1, second - first)


#: Comparisons up to which it does not matter how Python searches.
_EASY = 100_000
#: Characters of a text from which on it never compares more than a few times as many.
_LONG = 32 * 1024


def padded(text: str, *parts: str) -> str:
    """The text, followed by what is in none of the parts if they are long.

    Python searches a short text in quadratic time, where it and what is searched for repeat
    themselves: 9 ms for 8,000 characters in 10,000, and 0.02 ms if nonsense follows them.
    """
    if len(text) * sum(map(len, parts)) <= _EASY or len(text) > _LONG:
        return text
    spare = next(sign for sign in map(chr, count()) if not any(sign in part for part in parts))
    return text + spare * _LONG
