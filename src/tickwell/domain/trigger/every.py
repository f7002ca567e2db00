"""Fires at a fixed period."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tickwell.clock import NEVER
from tickwell.domain.trigger.calendar import Calendars
from tickwell.domain.trigger.choice import check_choice
from tickwell.domain.trigger.duration import Duration, parse_duration, say_duration
from tickwell.domain.trigger.limits import Limits
from tickwell.domain.trigger.trigger import Trigger, fill
from tickwell.domain.trigger.window import Window
from tickwell.domain.trigger.work import Work
from tickwell.errors import InvalidTrigger

SHORTEST = 100
_WEEK = 604_800_000


@dataclass(frozen=True, slots=True, init=False)
class Every(Trigger):
    """Aligned to the Unix epoch plus a phase, so it never drifts; or counted from the last end."""

    #: Milliseconds from fire to fire, or from end to fire.
    period: int
    #: Milliseconds by which the alignment is moved, less than the period.
    phase: int
    #: What the period counts from; given as `after`.
    counts_from: Literal["fire", "finish"]

    def __init__(
        self,
        period: Duration,
        *,
        phase: Duration = "0s",
        after: Literal["fire", "finish"] | None = None,
        counts_from: Literal["fire", "finish"] = "fire",
        start: datetime | None = None,
        until: datetime | None = None,
        max_runs: int | None = None,
        within: Sequence[Window] = (),
        exclude: Calendars = (),
        jitter: Duration = "0s",
    ) -> None:
        # written out because `after` is a method, and so cannot be a dataclass field
        fill(
            self,
            period=parse_duration(period, field="every"),
            phase=parse_duration(phase, field="phase"),
            counts_from=counts_from if after is None else after,
            start=start,
            until=until,
            max_runs=max_runs,
            within=within,
            exclude=exclude,
            jitter=jitter,
            _limits=None,
        )
        self._check()
        Trigger.__post_init__(self)

    def _check(self) -> None:
        check_choice(self.counts_from, ("fire", "finish"), "after")
        if self.period < SHORTEST:
            raise InvalidTrigger(
                f"the period is {self.period} ms, {SHORTEST} ms at least are needed",
                field="every",
                hint="For example: 500ms, 5m",
            )
        if self.phase and self.counts_from == "finish":
            hint = "Leave out one of the two"
            raise InvalidTrigger("cannot go with after='finish'", field="phase", hint=hint)
        if self.phase >= self.period:
            hint = "Give the remainder"
            raise InvalidTrigger("must be less than the period", field="phase", hint=hint)

    @property
    def follows_finish(self) -> bool:
        """Whether the period counts from the end of the last run."""
        return self.counts_from == "finish"

    def _search(self, instant: int, limits: Limits | None, work: Work) -> int | None:
        """The same; after="finish": one period later, or once open."""
        if limits is None:
            return self._nominal(instant)
        if self.counts_from == "fire":
            return limits.first(self._nominal, instant, work)
        due = instant + self.period
        found = limits.allowed(due if limits.start is None else max(due, limits.start), work)
        return None if found is None or limits.is_over(found) else found

    def between(self, start: int, end: int, work: Work | None = None) -> Iterator[int]:
        """The fire times later than start and not later than end; by counting, where that does."""
        if self._limits is not None:
            return Trigger.between(self, start, end, work)
        first = self._nominal(start)
        return iter(() if first is None else range(first, min(end, NEVER) + 1, self.period))

    def _nominal(self, instant: int) -> int | None:
        if self.counts_from == "finish":
            found = instant + self.period
        else:
            found = instant + self.period - (instant - self.phase) % self.period
        return found if found <= NEVER else None

    def busiest(self) -> tuple[int, int]:
        """By the period, also where it counts from an end: runs may be short."""
        return -(-86_400_000 // self.period), -(-60_000 // self.period)

    def warnings(self, since: int = 0) -> list[str]:
        """Weeks are counted from 1 January 1970, a Thursday, in UTC."""
        if self.period % _WEEK or self.phase or self.counts_from == "finish":
            return super(Every, self).warnings(since)
        fires = "weeks are counted from Thursday 1970-01-01, so it fires on a Thursday at 00:00 UTC"
        return [f'{fires}; Cron("0 9 * * mon", tz="Europe/Rome") names a weekday and a time']

    def _rule_in_words(self) -> str:
        words = f"every {say_duration(self.period)}"
        if self.counts_from == "finish":
            return f"{words}, counted from the end of the last run"
        return f"{words}, {say_duration(self.phase)} late" if self.phase else words
