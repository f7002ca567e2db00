"""Sizes and times among the options of a store URL."""

from __future__ import annotations

from collections.abc import Callable

_KINDS: dict[str, type[int | float]] = {
    "pool": int,
    "connect_timeout": float,
    "statement_timeout": float,
    "lock_timeout": float,
}


def take_numbers(
    given: dict[str, str], invalid: Callable[[str], Exception]
) -> dict[str, int | float]:
    """Take them out of what was given; what is no positive number is refused."""
    found = {}
    for name in [name for name in _KINDS if name in given]:
        text = given.pop(name)
        try:
            number = _KINDS[name](text)
        except ValueError:
            number = 0
        if not 0 < number < 1e6:
            raise invalid(f"{name}={text} is no positive number")
        found[name] = number
    return found
