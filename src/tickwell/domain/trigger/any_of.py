"""Fires when any of several triggers does."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from tickwell.domain.trigger.leaps import Leaps, merged
from tickwell.domain.trigger.several import Several
from tickwell.domain.trigger.work import Work


@dataclass(frozen=True, slots=True, init=False)
class AnyOf(Several):
    """Equal instants count once. Its own confines hold on top of those of its members."""

    KIND = "any_of"
    EXAMPLE = "Cron('0 9 * * *') | Every('1d')"

    @property
    def fires(self) -> bool:
        """Whether any member does."""
        return any(member.fires for member in self.members)

    @property
    def _is_plain(self) -> bool:
        return self._limits is None and not any(member.is_confined for member in self.members)

    def _nominal(self, instant: int) -> int | None:
        times = [found for each in self.members if (found := each.after(instant)) is not None]
        return min(times, default=None)

    def after(self, instant: int) -> int | None:
        """The first fire time of any member strictly later than the instant."""
        return self._nominal(instant) if self._is_plain else Several.after(self, instant)

    def _joined(self, instant: int, work: Work) -> Leaps:
        return merged(member.leaps(instant, work) for member in self.members)

    def between(self, start: int, end: int, work: Work | None = None) -> Iterator[int]:
        """The fire times of all members, later than start and not later than end."""
        if self._is_plain:
            each = heapq.merge(*(member.between(start, end) for member in self.members))
            return (instant for instant, _ in groupby(each))
        return Several.between(self, start, end, work)

    def slots(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Its fire times and what is taken out, by its own confines or by those of all members."""
        limits = self._limits
        if limits is not None:
            start = limits.begin(start)
        each = heapq.merge(*(member.slots(start, end) for member in self.members))
        for instant, group in groupby(each, key=itemgetter(0)):
            if limits is not None and limits.is_over(instant):
                return
            reasons = [reason for _, reason in group]
            if not all(reasons):
                own = limits.reason(instant) if limits is not None else None
                reasons = [own, *filter(None, reasons)] if own else [""]
            yield instant, min(reasons)

    def busiest(self) -> tuple[int, int]:
        """All members together, as if no two ever met."""
        each = [member.busiest() for member in self.members]
        return sum(day for day, _ in each), sum(minute for _, minute in each)

    def _rule_in_words(self) -> str:
        return ", or ".join(member.explain() for member in self.members)
