"""Sizes and times among the options of a store URL."""

from __future__ import annotations

from collections.abc import Callable

#: What each is, and the least: servers count thousandths of seconds, and take 0 for no limit.
_KINDS: dict[str, tuple[type[int | float], float]] = {
    "pool": (int, 1),
    "connect_timeout": (float, 0.001),
    "statement_timeout": (float, 0.001),
    "lock_timeout": (float, 0.001),
}
_MOST = 999_999


def take_numbers(
    query: dict[str, str], invalid: Callable[[str], Exception]
) -> dict[str, int | float]:
    """Take them out of what was given; what is no number within its bounds is refused."""
    found = {}
    for name in [name for name in _KINDS if name in query]:
        text = query.pop(name)
        kind, least = _KINDS[name]
        try:
            number = kind(text)
        except ValueError:
            number = 0
        if not least <= number <= _MOST:
            raise invalid(f"{name}={text} is no number from {least} to {_MOST}")
        found[name] = number
    return found
