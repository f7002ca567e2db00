"""`H`: a value spread over the field by a stable hash, so that not everything runs at minute 0."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tickwell.domain.cron.expression import split
from tickwell.domain.cron.field import FIELDS, Field
from tickwell.ids import spread

_HASH = re.compile(r"h(?:\(([^()]*)\))?(?:/(.*))?", re.IGNORECASE)

_CHOICES = 32


def has_hash(text: str) -> bool:
    """Whether any entry of any field is an `H`."""
    return ("h" in text or "H" in text) and any(
        _HASH.fullmatch(term) for part in split(text) for term in part.split(",")
    )


def choices(text: str, seed: str) -> Iterator[str]:
    """The expression with every `H` replaced by what this seed chooses; then further choices.

    The first may be of no use: `0 0 31 H *` can choose a month without a 31st.
    """
    if not has_hash(text):
        yield text
        return
    for choice in range(_CHOICES):
        yield _choose(split(text), f"{seed}~{choice}" if choice else seed)


def _choose(fields: list[str], seed: str) -> str:
    timed, year = fields[:6], fields[6:]
    chosen = [
        ",".join(_choose_term(kind, term, seed) for term in text.split(","))
        for kind, text in zip(FIELDS[-len(timed) :], timed, strict=True)
    ]
    return " ".join([*chosen, *year])


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
        either = f"H({first}-{field.last}) or H({field.low}-{last})"
        field.refuse(f"range H({text}) runs backwards", either)
    return low, high
