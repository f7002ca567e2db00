"""Text of others in a log line: control characters spelled out, secrets left out.

Job names, errors of targets and lines of handlers reach a log. A log is read in a terminal, which
control characters would steer: ESC, and since C1 has the same, U+009B.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

#: In place of a secret.
REDACTED = "…"
#: Characters of one text: a response or a traceback must not fill a disk.
LONGEST = 16_384
#: Characters beyond that which are read: half of a secret does not look like one.
_MARGIN = 1_024

#: Whole numbers that JSON readers take; orjson writes no others.
_WIDEST = 1 << 63

#: C0, DEL, C1, line and paragraph separators, changes of direction, halves of a character.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_NOT_IN_BLOCK = re.compile(_CONTROLS.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_NAME = (
    r"(?:password|passwd|passphrase|pwd|secret|token|authorization|cookie|credentials?"
    r"|(?:api|access|private|signing|secret)[_-]?key)"
)
_NAMED = re.compile(rf"(?i)^(?:.*[_.-])?{_NAME}s?$")
#: In quotes, whose end may be cut off, or one word.
_VALUE = r"(?:\"(?:[^\"\\]|\\.)*+(?:\"|\\?\Z)|'(?:[^'\\]|\\.)*+(?:'|\\?\Z)|[^\s,;&)\]}\"']++)"
#: Words without one of which there is no such secret, in small letters; each secret; and what is
#: left of it. A target decides what is searched, in the event loop: the time of each pattern must
#: grow with the length of a text, not with its square. Most texts have none of the words, and a
#: look for those takes a twentieth of the time of the patterns.
_SECRETS = [
    (("-----begin",),
     re.compile(r"(?s)-----BEGIN ([A-Z ]*)PRIVATE KEY-----.*?(?:-----END \1PRIVATE KEY-----|\Z)"),
     REDACTED),
    (("://",), re.compile(r"(://[^\s/:@]*+:)[^\s/@]++@"), rf"\1{REDACTED}@"),
    (("tw_",), re.compile(r"\b(tw_\w{16})_[\w-]{43}"), rf"\1_{REDACTED}"),
    (("whsec_", "whsk_"), re.compile(r"\b(whs(?:ec|k)_)[A-Za-z0-9+/=]+"), rf"\1{REDACTED}"),
    (("eyj",),
     re.compile(r"(?<![\w-])(?>((?:\w*+-)*?)eyJ)[\w-]++\.[\w-]++\.[\w-]*+"), rf"\1{REDACTED}"),
    (("bearer",), re.compile(r"\b(?i:(bearer))\s+[\w.~+/=-]{6,}"), rf"\1 {REDACTED}"),
    (("basic", "digest"),
     re.compile(r"\b((?i:basic|digest))\s+(?=\S*[A-Z0-9=])[\w.~+/=-]{6,}"), rf"\1 {REDACTED}"),
    (("link=", "code=", "sig=", "signature=", "key=", "auth="),
     re.compile(r"(?i)([?&](?:link|code|sig|signature|key|auth)=)[^&\s\"']+"), rf"\1{REDACTED}"),
    # A header: its value has spaces, commas and semicolons.
    (("authorization", "cookie"),
     re.compile(r"(?i)((?:authorization|cookie)[\"']?\s*+:\s*+[\"']?)[^\n\"'}\]]++"),
     rf"\1{REDACTED}"),
    (("passw", "passp", "pwd", "secret", "token", "authorization", "cookie", "credential", "key"),
     re.compile(rf"(?i)({_NAME}[\"']?\s*+[=:]\s*+){_VALUE}"), rf"\1{REDACTED}"),
]  # fmt: skip


def one_line(text: str) -> str:
    """The text on one line: no control character, no secret."""
    return spelled(_cut(text))


def block(text: str) -> str:
    """The same for an error of several lines, which keeps its line feeds and tabs."""
    return spelled_block(_cut(text).replace("\r\n", "\n"))


def _cut(text: str) -> str:
    """The first characters, without secrets."""
    shown = redacted(text[: LONGEST + _MARGIN])
    if len(text) > LONGEST + _MARGIN:
        shown = shown[:-_MARGIN]  # what was left out may have moved the end of the margin up
    return shown[:LONGEST]


def redacted(text: str) -> str:
    """The text without what looks like a password, a token or a key."""
    small = text.casefold()
    for words, pattern, rest in _SECRETS:
        for word in words:
            if word in small:
                text = pattern.sub(rest, text)
                break
    return text


#: What the path of a ping begins with: a token follows.
_PING = "/ping/"


def without_token(path: str) -> str:
    """The path of a request, without the token of a ping URL."""
    head, ping, _ = path.partition(_PING)
    return f"{head}{ping}…" if ping else path


def value(name: str, raw: Any) -> Any:
    """A field as a log can hold it: numbers as they are, all else as one line of text."""
    if raw is None or isinstance(raw, bool | float):
        return raw
    if isinstance(raw, int) and -_WIDEST <= raw < _WIDEST:
        return raw
    if _is_secret(name):
        return REDACTED
    return one_line(raw if isinstance(raw, str) else str(raw))


@lru_cache(maxsize=1024)
def _is_secret(name: str) -> bool:
    return _NAMED.match(name) is not None


def spelled_block(text: str) -> str:
    """The text of several lines with every other control character as its escape sequence."""
    return spelled(text, _NOT_IN_BLOCK)


def spelled(text: str, controls: re.Pattern[str] = _CONTROLS) -> str:
    """The text with every control character as its escape sequence."""
    if text.isprintable():
        return text
    return controls.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
