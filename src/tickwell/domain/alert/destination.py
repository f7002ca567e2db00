"""Destinations: the target that a channel's messages are sent with, and what of it is secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from tickwell.domain.alert.channel import ChannelKind
from tickwell.domain.http import Http
from tickwell.domain.http.url import parse_url
from tickwell.domain.target import Call, Target
from tickwell.errors import InvalidInput

#: The handler that sends mail, of workers that have an SMTP server.
MAIL_HANDLER = "tickwell.email"
#: Recipients of one channel.
MOST_RECIPIENTS = 20
#: Without what a header reads as more than one address: groups, comments, encoded words.
_ADDRESS = re.compile(r"[^@\s,;:?<>()\[\]\"\\]{1,64}@[A-Za-z0-9.-]{1,255}")

#: Where events go unless a channel names another region.
PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"
#: Characters from which a part of a URL is taken for a token; a shorter one is part of a name.
_TOKEN = 12
#: What the target sends of the payload: `formats.pagerduty` gives all of them.
_PAGERDUTY_FIELDS = ("event_action", "dedup_key", "payload", "links")


@dataclass(frozen=True, slots=True)
class Destination:
    """How a channel is reached."""

    target: Target
    #: Where that is, as people may see it.
    shown: str
    #: What the target names as a secret; None: nothing.
    secret: str | None = field(repr=False)


def destination(kind: ChannelKind, url: str, key: str | None, secret: str) -> Destination:
    """For a URL, and a key to sign with or to route by; `secret` is the secret's name."""
    placeholder = f"{{{{secret.{secret}}}}}"
    if kind is ChannelKind.WEBHOOK:
        return Destination(Http(url, sign_with=(placeholder,)), url, key)
    if kind is ChannelKind.PAGERDUTY:
        fields = {name: f"{{{{payload.{name}}}}}" for name in _PAGERDUTY_FIELDS}
        is_named = key is not None and "{{" in key
        body = {"routing_key": key if is_named else placeholder, **fields}
        return Destination(Http(url, body=body), url, None if is_named else key)
    before, token, after = _split(url)
    if not token:
        return Destination(Http(url), url, None)
    return Destination(Http(before + placeholder + after), f"{before}…{after}", unquote(token))


def mail_destination(to: Sequence[str]) -> Destination:
    """For e-mail addresses."""
    if not 1 <= len(to) <= MOST_RECIPIENTS:
        hint = "For example ops@example.com"
        raise InvalidInput(f"1 to {MOST_RECIPIENTS} addresses are needed", field="to", hint=hint)
    for each in to:
        if not (_ADDRESS.fullmatch(each) and each.isascii() and each.isprintable()):
            raise InvalidInput(f"{each[:100]!r} is not an e-mail address", field="to")
    return Destination(Call(MAIL_HANDLER), ", ".join(to), None)


def _split(url: str) -> tuple[str, str, str]:
    """What is before the token of a chat's URL, the token, and what follows.

    Such a URL is a secret: its longest segment or parameter cannot be guessed.
    A URL that names a secret already keeps it there.
    """
    parse_url(url)
    if "{{" in url:
        return url, "", ""
    authority = url.index("://") + len("://")
    start = next((n for n in range(authority, len(url)) if url[n] in "/?"), len(url))
    pieces = list[tuple[int, int]]()
    begin = start
    for index in range(start, len(url) + 1):
        if index == len(url) or url[index] in "/?&=":
            pieces.append((begin, index))
            begin = index + 1
    begin, end = max(pieces, key=lambda piece: piece[1] - piece[0])
    return (url[:begin], url[begin:end], url[end:]) if end - begin >= _TOKEN else (url, "", "")
