"""Time as services use it: the store's clock, and moments relative to one reading of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tickwell.clock import NEVER, to_datetime, to_millis
from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.domain.trigger.moment import exact
from tickwell.errors import InvalidInput


class Time(Protocol):
    """A clock that can be read; every `tickwell.clock.Clock` is one."""

    def now(self) -> int:
        """The store's time."""
        ...


@dataclass(frozen=True, slots=True)
class After:
    """A delay that counts from the `now` of the operation it is passed to.

    The caller does not add it to a clock reading of its own: an operation that reads the clock
    once stores moments that are exactly as far apart as the caller asked for.
    """

    millis: int


#: When something is to happen: an instant, or a delay.
Moment = int | After


def moment_of(value: datetime | Duration, field: str) -> Moment:
    """The moment that a person means: a datetime that says its time zone, or a delay."""
    if isinstance(value, datetime):
        return to_millis(exact(value, field))
    return After(parse_duration(value, field=field))


def instant_of(moment: Moment, now: int) -> int:
    """The instant that a moment means when the operation's clock reads `now`."""
    return min(now + moment.millis, NEVER) if isinstance(moment, After) else moment


def end_of(until: Moment | None, now: int) -> int | None:
    """The instant at which a pause ends that begins now; None: it has no end."""
    if until is None:
        return None
    end = instant_of(until, now)
    if end <= now:
        raise InvalidInput(
            f"{to_datetime(end):%Y-%m-%d %H:%M:%S} UTC is past",
            field="until",
            hint="Choose a later moment, or leave it out",
        )
    return end
