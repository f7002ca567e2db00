"""Rates: at most so many starts in any period of a length, among executions with one key.

A rate is a gate whose permit, once used, can be had again one period after the start that used it.
Each of its n permits allows one start per period, so of n + 1 starts within less than a period two
would have used the same permit: that never happens, however late a worker begins what it claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tickwell.domain.gate import escaped
from tickwell.domain.key_template import fill_template
from tickwell.domain.trigger.duration import format_duration, parse_duration
from tickwell.errors import InvalidJob, InvalidTrigger

if TYPE_CHECKING:
    from tickwell.domain.job import Job

#: Starts in a period: a store keeps an instant for each.
MOST_STARTS = 1_000
#: Milliseconds of a period.
SHORTEST_PERIOD, LONGEST_PERIOD = 100, 31 * 86_400_000

#: Milliseconds by which the clocks of two processes may differ: each is behind the store's by a
#: round trip at most. What one of them takes for over is still to come for another.
CLOCKS_APART = 10_000

_RATE = re.compile(r"([0-9]{1,9})\s*/\s*(\S+)")
_UNIT = re.compile(r"[a-z]+")
_HINT = 'For example "100/1m": at most 100 starts in any minute'


@lru_cache(maxsize=1024)
def read_rate(text: str) -> tuple[int, int]:
    """The starts of "100/1m", and the milliseconds of its period; "100/m" is the same."""
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise InvalidJob(f"{text!r:.80} is not N/PERIOD", field="rate", hint=_HINT)
    period = match[2]
    try:
        millis = parse_duration(f"1{period}" if _UNIT.fullmatch(period) else period, field="rate")
    except InvalidTrigger as error:
        raise InvalidJob(error.reason, field="rate", hint=_HINT) from None
    if not 1 <= int(match[1]) <= MOST_STARTS:
        raise InvalidJob(
            f"{match[1]} starts are not between 1 and {MOST_STARTS:,}",
            field="rate",
            hint="Divide both numbers: 6000/1h is at least as strict as 100/1m",
        )
    if not SHORTEST_PERIOD <= millis <= LONGEST_PERIOD:
        raise InvalidJob(
            f"a period of {format_duration(millis)} is not between 100ms and 31d",
            field="rate",
            hint=_HINT,
        )
    return int(match[1]), int(millis)


def make_rate(raw: object) -> str:
    """A rate as documents have it: "100 / 60s" is "100/1m"."""
    if not isinstance(raw, str):
        raise InvalidJob(f"{raw!r:.80} is not a text", field="rate", hint=_HINT)
    limit, period = read_rate(raw)
    return f"{limit}/{format_duration(period)}"


def rate_gate(job: Job, period: int, payload: Any) -> str:
    """The gate that an execution with this payload passes; without a key it is its job's own.

    No other gate begins with a slash, and no project can name a gate of another.
    """
    head = f"/{period}/{escaped(job.project)}"
    if job.rate_key is None:
        return f"{head}/job/{job.id}"
    return f"{head}/key/{fill_template(job.rate_key, job, payload)}"


def is_rate(gate: str | None) -> bool:
    """Whether a gate is that of a rate."""
    return gate is not None and gate.startswith("/")


def period_of(gate: str) -> int:
    """The milliseconds after a start from which on its permit can be had again; 0: at once."""
    return int(gate.split("/", 2)[1]) if is_rate(gate) else 0


def permit_from(held: int, free: Sequence[int], limit: int) -> int | None:
    """From when on a permit can be had: 0 is at once, None not before a holder has started.

    `free` are the instants, in order, from which on permits that were used can be had again.
    """
    room = limit - held
    if room <= 0:
        return None
    return free[-room] if len(free) >= room else 0


def left_after(free: Iterable[int], taken: int) -> list[int]:
    """What is left of these instants when the permit of one was taken; 0: of none."""
    left = list(free)
    if taken:
        left.remove(taken)
    return left


def with_returned(free: Iterable[int], at: int, now: int) -> list[int]:
    """These instants with that of a permit that comes back; what is long past says nothing."""
    return sorted(each for each in (*free, at) if each > long_past(now))


def long_past(now: int) -> int:
    """What is past for every process, whichever of them has this time."""
    return max(now - CLOCKS_APART, 0)


def permit_back_at(
    gate: str, run_at: int, started_at: int | None, maybe_started: int | None
) -> int:
    """From when on the permit of an attempt can be had again.

    Of one whose start is unknown: it may have been as late as `maybe_started`. One that never
    started used nothing of it.
    """
    start = maybe_started if started_at is None else started_at
    return run_at if start is None else start + period_of(gate)
