"""`H`: a value spread over the field by a stable hash, so that not everything runs at minute 0."""

from __future__ import annotations

import re

from tickwell.domain.cron.expression import split
from tickwell.domain.cron.field import FIELDS, Field
from tickwell.domain.cron.rule import parse
from tickwell.errors import InvalidTrigger
from tickwell.ids import spread

_HASH = re.compile(r"h(?:\(([^()]*)\))?(?:/(.*))?", re.IGNORECASE)

#: `0 0 31 H *` may first choose a month without a 31st; it then chooses again.
_CHOICES = 64


def has_hash(text: str) -> bool:
    """Whether any entry of any field is an `H`."""
    return ("h" in text or "H" in text) and any(
        _HASH.fullmatch(term) for part in split(text) for term in part.split(",")
    )


def bind(text: str, seed: str) -> str:
    """The expression with every `H` replaced by what this seed chooses."""
    if not has_hash(text):
        return text
    failure: InvalidTrigger | None = None
    for choice in range(_CHOICES):
        bound = _choose(split(text), f"{seed}~{choice}" if choice else seed)
        try:
            parse(bound)
        except InvalidTrigger as error:
            failure = failure or error
        else:
            return bound
    raise failure or InvalidTrigger("no choice for H can ever match", field="cron")


def _choose(fields: list[str], seed: str) -> str:
    kinds = FIELDS[-len(fields) :]
    return " ".join(
        ",".join(_choose_term(kind, term, seed) for term in text.split(","))
        for kind, text in zip(kinds, fields, strict=True)
    )


def _choose_term(field: Field, term: str, seed: str) -> str:
    match = _HASH.fullmatch(term)
    if match is None:
        return term
    low, high = _bounds(field, match[1])
    seed = f"{seed}:{field.name}"
    if match[2] is None:
        return str(low + spread(seed, high - low + 1))
    if not match[2].isdecimal() or not 1 <= int(match[2]) <= high - low + 1:
        field.refuse(f"has the step {match[2]!r}, and only 1 to {high - low + 1} can be taken")
    start = low + spread(seed, int(match[2]))
    return f"{start}-{high}/{match[2]}"


def _bounds(field: Field, text: str | None) -> tuple[int, int]:
    if text is None:
        return field.low, field.hash_high
    first, dash, last = text.lower().partition("-")
    if not dash:
        field.refuse(f"has H({text}) without a range", "H(0-29)")
    low, high = field.value(first), field.value(last)
    if high < low:
        field.refuse(f"range H({text}) runs backwards", f"H({last}-{first})")
    return low, high
