"""Expressions that fire at a constant beat, and so need no calendar where offsets never change."""

from __future__ import annotations

#: Units from fire to fire, and the first one after 00:00. No class: a bare tuple unpacks faster.
Beat = tuple[int, int]


def find_beat(minutes: int, seconds: int) -> Beat | None:
    """The beat of every day: from the minutes of a day and the seconds of a minute, as bits."""
    minute, second = _even(minutes, 1440), _even(seconds, 60)
    if minute is None or second is None:
        return None
    if second[0] == 60:
        return minute[0] * 60, minute[1] * 60 + second[1]
    return second if minute[0] == 1 else None


def _even(mask: int, size: int) -> Beat | None:
    step, rest = divmod(size, mask.bit_count())
    first = (mask & -mask).bit_length() - 1
    every = ((1 << size) - 1) // ((1 << step) - 1) if not rest else 0
    return (step, first) if mask == every << first else None
