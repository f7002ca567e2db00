"""Cyclic garbage: looked for between instants where that can be, not in their midst."""

from __future__ import annotations

import gc

#: Objects made and not let go of after which Python looks at them, in a process that is all ours;
#: and after which it is better asked to, once an instant has passed. A look takes 1 µs for each.
ANYWHERE, BETWEEN = 20_000, 4_000
#: Looks at the young after which those that outlived them are looked at, and the same for these.
OLDER = 20
#: Milliseconds before the next instant in which nothing is looked for.
QUIET = 30


def collect_rarely() -> None:
    """Look for cyclic garbage less often.

    A worker makes many objects and few cycles: looking each time there are 700 more of them took
    a tenth of its time. What there is at the start stays, and is not looked at again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(ANYWHERE, OLDER, OLDER)


def is_worth_a_look() -> bool:
    """Whether Python would look before long; never in a program that decides about that itself."""
    return gc.get_count()[0] > BETWEEN and gc.get_threshold()[0] == ANYWHERE


def look() -> None:
    """Let Python look now.

    Not by `gc.collect`: it is Python that knows which of the older ones are worth looking at.
    """
    gc.set_threshold(BETWEEN, OLDER, OLDER)
    _make_one()
    gc.set_threshold(ANYWHERE, OLDER, OLDER)


def _make_one() -> set[object]:
    """An object more, by which it sees that there are enough; lists are taken from a stock."""
    return set()
