"""Fires when any of several triggers does."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.trigger import Trigger, fill
from tickwell.domain.trigger.window import Window
from tickwell.errors import InvalidTrigger

MOST = 64


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
        jitter: str | timedelta | int = 0,
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

    def _nominal(self, instant: int) -> int | None:
        times = [found for each in self.members if (found := each.after(instant)) is not None]
        return min(times, default=None)

    def excluded(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """What its own confines take out, and its members' unless another one fires then."""
        own = Trigger.excluded(self, start, end)
        last = None
        for instant, reason in heapq.merge(own, *(m.excluded(start, end) for m in self.members)):
            if instant != last and self.after(instant - 1) != instant:
                yield instant, reason
            last = instant

    def bound(self, seed: str) -> Union:
        """The same with every member bound."""
        members = tuple(member.bound(seed) for member in self.members)
        if all(new is old for new, old in zip(members, self.members, strict=True)):
            return self
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
        if isinstance(trigger, Union) and trigger == Union(*trigger.members):
            found |= dict.fromkeys(trigger.members)
        else:
            found[trigger] = None
    if not 1 <= len(found) <= MOST:
        raise InvalidTrigger(f"takes 1 to {MOST} triggers", field="any_of")
    return tuple(found)
