"""Templates: `{{name}}` from a fixed list, replaced by its value and by nothing else.

No attributes, filters or expressions: what tenants write is never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from tickwell.errors import InvalidJob

#: What a template may name, besides payload.<field> and secret.<name>.
NAMES = ("execution_id", "attempt", "fire_time", "job_id", "job_name", "project", "payload")
#: Stands for a literal credential that is not shown; saving puts the stored one back.
MASKED = "masked"
_DOTTED = re.compile(
    r"payload(?:\.[A-Za-z0-9_-]{1,255}){1,8}|secret\.[A-Za-z0-9_-]{1,255}|masked(?:\.[1-9])?"
)

#: Gives the value of a name.
Resolve = Callable[[str], Any]


def split(text: str) -> list[str]:
    """Literal texts, and at every odd index what stands between {{ and }}.

    Not by an expression: one would look for the end of each {{ to the end of the text.
    """
    parts, end = [], 0
    while (start := text.find("{{", end)) >= 0 and (close := text.find("}}", start + 2)) >= 0:
        parts += [text[end:start], text[start + 2 : close]]
        end = close + 2
    return [*parts, text[end:]]


class Template:
    """A text with places in it."""

    __slots__ = ("names", "parts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        #: Literal texts, and at every odd index a name.
        self.parts = split(text)
        self.parts[1::2] = [name.strip() for name in self.parts[1::2]]
        self.names = frozenset(self.parts[1::2])

    def render(self, resolve: Callable[[str], str]) -> str:
        """The text with every place replaced."""
        if not self.names:
            return self.text
        parts = list(self.parts)
        parts[1::2] = [resolve(name) for name in parts[1::2]]
        return "".join(parts)

    @property
    def is_one_place(self) -> bool:
        """Whether the text is a place and nothing else: then a value keeps its type in JSON."""
        return len(self.parts) == 3 and not self.parts[0] and not self.parts[2]


_cached = lru_cache(maxsize=4096)(Template)


def template(text: str) -> Template:
    """The template of a text; short ones, such as leaves of a body, are taken apart once."""
    return _cached(text) if len(text) <= 256 else Template(text)


def checked(text: str, field: str) -> Template:
    """The template of a text; refused if it names what is not known, or leaves a place open."""
    found = template(text)
    for name in found.names:
        if name not in NAMES and not _DOTTED.fullmatch(name):
            raise InvalidJob(
                f"{{{{{name[:64]}}}}} is not a known name", field=field, hint=_hint(name)
            )
    for literal in found.parts[::2]:
        if "{{" in literal:
            raise InvalidJob(
                "{{ is not followed by }}", field=field, hint="For example {{fire_time}}"
            )
    return found


def _hint(name: str) -> str:
    near = get_close_matches(name, NAMES, n=1)
    if near:
        return f"Did you mean {{{{{near[0]}}}}}?"
    return f"Expected one of {', '.join(NAMES)}, payload.<field> or secret.<name>"


def leaves(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys apart: they are never substituted."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)


def render_json(value: Any, resolve: Resolve, as_text: Callable[[str], str]) -> Any:
    """The JSON value with its leaves rendered: a value can never become structure of another."""
    if isinstance(value, str):
        if "{{" not in value:
            return value
        found = template(value)
        if found.is_one_place:
            return resolve(found.parts[1])
        return found.render(as_text)
    if isinstance(value, dict):
        return {key: render_json(inner, resolve, as_text) for key, inner in value.items()}
    if isinstance(value, list):
        return [render_json(inner, resolve, as_text) for inner in value]
    return value
