"""Where a text was cut in the middle of a secret."""

from __future__ import annotations

from itertools import islice

from tickwell.executors.http.forms import SHORTEST
from tickwell.executors.http.search import padded

#: Places that are tried one by one; few secrets repeat themselves.
_FEW = 16


def overlap(text: str, value: str) -> int:
    """Characters at the end of the text that are a beginning of the value; 0: too few to tell."""
    most = min(len(text), len(value) - 1)
    start = len(text) - most - 1
    for _ in range(_FEW):
        start = text.find(value[:SHORTEST], start + 1)
        if start < 0:
            return 0
        if value.startswith(text[start:]):
            return len(text) - start
    # A secret such as "aaaa…" has a place at every character: each would be compared in full.
    return _longest(text[start + 1 :], value)


def _longest(text: str, value: str) -> int:
    """The same where the text is shorter than the value, without a look at each place."""
    half = SHORTEST << max(len(text) // SHORTEST, 1).bit_length() - 1
    while half >= SHORTEST:
        end = text[1 - 2 * half :]
        # Of lengths from one half to less than two: what begins with the first half of the value,
        # and ends where the last half of the text is in the value, is a beginning of all of it.
        ended = _places(end[-half:], value[: len(end)])
        begun = _places(value[:half], end) if ended else ended
        found = _last_of_both(
            range(len(end) - begun.stop + 1, len(end) - begun.start + 1, begun.step),
            range(ended.start + half, ended.stop + half, ended.step),
        )
        if found:
            return found
        half //= 2
    return 0


def _last_of_both(one: range, other: range) -> int:
    """The last number that is in both; 0: none."""
    if not one or not other:
        return 0
    fine, coarse = sorted((one, other), key=lambda numbers: numbers.step)
    within = coarse[: max((fine[-1] - coarse[0]) // coarse.step + 1, 0)]
    # After as many steps as the fine one takes to the next number, remainders repeat themselves.
    last = islice(reversed(within), fine.step)
    return next((number for number in last if number in fine), 0)


def _places(part: str, text: str) -> range:
    """All places of a part in a text that is less than twice as long.

    Any two overlap, so that the part repeats itself at their distance: it is always the same one.
    """
    forward = padded(text, part)
    first = forward.find(part)
    if first < 0:
        return range(0)
    second = forward.find(part, first + 1)
    if second < 0:
        return range(first, first + 1)
    backward = padded(text[::-1], part).find(part[::-1])  # `rfind` takes quadratic time
    return range(first, len(text) - len(part) - backward + 1, second - first)
