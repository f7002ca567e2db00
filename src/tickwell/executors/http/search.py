"""Searching in linear time, whatever is searched for."""

from __future__ import annotations

from itertools import count

#: Comparisons up to which it does not matter how Python searches.
_EASY = 100_000
#: Characters of a text from which on it never compares more than a few times as many.
_LONG = 32 * 1024


def padded(text: str, *parts: str) -> str:
    """The text, followed by what is in none of the parts if they are long.

    Python searches a short text in quadratic time, where it and what is searched for repeat
    themselves: 9 ms for 8,000 characters in 10,000, and 0.02 ms if nonsense follows them.
    """
    if len(text) * sum(map(len, parts)) <= _EASY or len(text) > _LONG:
        return text
    spare = next(sign for sign in map(chr, count()) if not any(sign in part for part in parts))
    return text + spare * _LONG
