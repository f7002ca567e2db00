"""The year field: the last of seven, and of the expressions of other schedulers."""

from __future__ import annotations

from tickwell.domain.cron.field import Field

_YEAR = Field(name="year", low=1970, high=2199, size=230, example="2026-2028", hash_high=2199)


def read_years(text: str) -> frozenset[int] | None:
    """The years that a field names; None: all."""
    if text in {"", "*", "?"}:
        return None
    return frozenset(year for term in text.split(",") for year in _year_term(term))


def _year_term(term: str) -> list[int]:
    body, slash, step = term.partition("/")
    if slash and not (step.isdecimal() and 1 <= int(step) <= _YEAR.size):
        _YEAR.refuse(f"has the step {step!r}, and only 1 to {_YEAR.size} can be taken")
    if body == "*":
        body = f"{_YEAR.low}-{_YEAR.high}"
    first, dash, last = body.partition("-")
    low = _YEAR.value(first)
    high = _YEAR.value(last) if dash else _YEAR.high if slash else low
    if high < low:
        _YEAR.refuse(f"range {body} runs backwards", f"{last}-{first}")
    return list(range(low, high + 1, int(step or 1)))
