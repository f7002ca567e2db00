"""Conditions: what is asked before a fire runs, and whether its slot is skipped instead."""

from __future__ import annotations

from functools import lru_cache

from tickwell.domain.http import Http
from tickwell.errors import InvalidJob

#: Seconds that a condition has to answer.
LONGEST = 10.0
#: Characters of a URL, or of a handler's name.
LONGEST_URL, LONGEST_NAME = 2_048, 255
_HINT = 'Use the name of a handler, as "has_mail", or a URL, as "https://example.com/has-mail"'


def is_url(condition: str) -> bool:
    """Whether it is asked by a request; otherwise a handler of that name is called."""
    return condition.startswith(("https://", "http://"))


def check_condition(text: object) -> None:
    """Refuse what names neither a handler nor a URL that can be called as it is."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidJob(f"{text!r:.80} is not a text", field="only_if", hint=_HINT)
    if len(text) > (LONGEST_URL if is_url(text) else LONGEST_NAME):
        raise InvalidJob("is too long", field="only_if", hint=_HINT)
    if not is_url(text):
        return
    if "{{" in text:
        raise InvalidJob(
            "a URL here takes no placeholders", field="only_if", hint="Use a handler instead"
        )
    try:
        request_of(text)
    except InvalidJob as error:
        raise InvalidJob(error.reason, field="only_if", hint=error.hint) from None


@lru_cache(maxsize=1024)
def request_of(url: str) -> Http:
    """The request that asks a URL."""
    return Http(url, method="GET", timeout=f"{LONGEST:g}s", keep=1_000)
