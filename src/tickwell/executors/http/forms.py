"""How a secret may come back: as it was sent, as others read it, and as they write texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from urllib.parse import quote, quote_plus

from tickwell.executors.http.answer import REPLACED, without_controls

#: Characters of a secret. To hide a shorter one would hide half of an answer.
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
    """All of them, some more than once; none for what is too short to be hidden."""
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
