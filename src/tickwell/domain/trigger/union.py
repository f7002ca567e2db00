"""Fires when any of several triggers does."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from tickwell.clock import NEVER
from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.duration import Duration
from tickwell.domain.trigger.leaps import Leaps, confined, found, merged
from tickwell.domain.trigger.limits import Limits
from tickwell.domain.trigger.trigger import Trigger, fill
from tickwell.domain.trigger.window import Window
from tickwell.domain.trigger.work import Work, is_tried, one_reading
from tickwell.errors import InvalidTrigger

MOST = 64
#: With all that is nested.
MOST_IN_ALL = 128


@dataclass(frozen=True, slots=True, init=False)
class Union(Trigger):
    """Equal instants count once. Its own confines hold on top of those of its members."""

    members: tuple[Trigger, ...]

    def __init__(
        self,
        *triggers: Trigger,
        members: tuple[Trigger, ...] = (),
        start: datetime | None = None,
        until: datetime | None = None,
        max_runs: int | None = None,
        within: Sequence[Window] = (),
        exclude: Sequence[Calendar] = (),
        jitter: Duration = "0s",
    ) -> None:
        # written out because members are given one by one
        fill(
            self,
            members=_flat((*triggers, *members)),
            start=start,
            until=until,
            max_runs=max_runs,
            within=within,
            exclude=exclude,
            jitter=jitter,
            _limits=None,
        )
        Trigger.__post_init__(self)

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
        if self._is_plain:
            return self._nominal(instant)
        return next(self.between(instant, NEVER), None)

    def _search(self, instant: int, limits: Limits, work: Work) -> int | None:
        del limits  # its leaps know them
        return next((leap for leap, sure in self.leaps(instant, work) if sure), None)

    def leaps(self, instant: int, work: Work) -> Leaps:
        """Those of all members together; they are sent past what its own confines take out."""
        limits = self._limits
        begin = instant if limits is None else limits.begin(instant)
        leaps = merged(member.leaps(begin, work) for member in self.members)
        return leaps if limits is None else confined(leaps, limits, work)

    def between(self, start: int, end: int, work: Work | None = None) -> Iterator[int]:
        """The fire times of all members, later than start and not later than end."""
        if self._is_plain:
            each = heapq.merge(*(member.between(start, end) for member in self.members))
            return (instant for instant, _ in groupby(each))
        work = work or Work()
        return found(self.leaps(start, work), end, work)

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

    def single(self) -> Iterator[Trigger]:
        """Each trigger in it that is no union."""
        for member in self.members:
            yield from member.single()

    def bound(self, seed: str) -> Union:
        """The same with every member bound."""
        with one_reading():
            members = tuple(member.bound(seed) for member in self.members)
        if all(new is old for new, old in zip(members, self.members, strict=True)):
            return self
        with one_reading(anew=True):  # the choices of `H` may have cost all that may be spent
            return replace(self, members=members)

    def busiest(self) -> tuple[int, int]:
        """All members together, as if no two ever met."""
        each = [member.busiest() for member in self.members]
        return sum(day for day, _ in each), sum(minute for _, minute in each)

    def _rule_in_words(self) -> str:
        return ", or ".join(member.explain() for member in self.members)

    def warnings(self, since: int = 0) -> list[str]:
        """Those of all members."""
        return [warning for member in self.members for warning in member.warnings(since)]


def _flat(triggers: tuple[object, ...]) -> tuple[Trigger, ...]:
    """Each member once, in the order given; a union without confines gives way to its members."""
    found: dict[Trigger, None] = {}
    for trigger in triggers:
        if not isinstance(trigger, Trigger):
            hint = "For example: Cron('0 9 * * *') | Every('1d')"
            raise InvalidTrigger("takes triggers", field="any_of", hint=hint)
        if trigger.follows_finish:
            reason = "an interval counted from the end of a run cannot be joined with others"
            raise InvalidTrigger(reason, field="any_of", hint="Make it a job of its own")
        if trigger.max_runs or trigger.jitter:
            reason = "max_runs and jitter are counted for the whole, not for one member"
            raise InvalidTrigger(reason, field="any_of", hint="Give them to the union")
        if isinstance(trigger, Union) and not trigger.is_confined:
            found |= dict.fromkeys(trigger.members)
        else:
            found[trigger] = None
    if not 1 <= len(found) <= MOST:
        raise InvalidTrigger(f"takes 1 to {MOST} triggers", field="any_of")
    in_all = 0 if is_tried() else sum(1 for trigger in found for _ in trigger.single())
    if in_all > MOST_IN_ALL:
        reason = f"takes {MOST_IN_ALL} triggers in all, with those of the unions in it"
        raise InvalidTrigger(reason, field="any_of", hint="Make it several jobs")
    return tuple(found)
