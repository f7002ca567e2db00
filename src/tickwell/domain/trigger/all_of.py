"""Fires when all of several triggers do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tickwell.domain.trigger.leaps import Leaps, met
from tickwell.domain.trigger.several import Several
from tickwell.domain.trigger.trigger import TRIED_FROM, Trigger
from tickwell.domain.trigger.work import Spent, Work, is_tried
from tickwell.errors import InvalidTrigger


@dataclass(frozen=True, slots=True, init=False)
class AllOf(Several):
    """At the instants that all members have in common, to the millisecond."""

    KIND = "all_of"
    EXAMPLE = "Cron('0 9 * * mon') & Cron('0 9 1-7 * *')"

    def __post_init__(self) -> None:
        Trigger.__post_init__(self)
        if self._limits is not None or is_tried():
            return
        hint = "For hours or weekdays without an instant in common: within=Window(…)"
        try:
            fires = self._ever_fires(TRIED_FROM, None)
        except Spent:
            reason = (
                "no instant at which all of these fire was found in the first thousands of fires"
            )
            raise InvalidTrigger(reason, field=self.KIND, hint=hint) from None
        if not fires:
            reason = "the triggers never fire at the same instant"
            raise InvalidTrigger(reason, field=self.KIND, hint=hint)

    @property
    def is_confined(self) -> bool:
        """Always: each member confines the others."""
        return True

    def _nominal(self, instant: int) -> int | None:
        return self.after(instant)

    def _joined(self, instant: int, work: Work) -> Leaps:
        return met([member.leaps(instant, work) for member in self.members], instant)

    def slots(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Its fire times, and what one member or its own confines take out."""
        limits, work = self._limits, Work()
        if limits is not None:
            start = limits.begin(start)
        try:
            while slot := self._meeting(start, end, work):
                start, reasons = slot
                if limits is not None and limits.is_over(start):
                    return
                if not reasons and limits is not None:
                    reasons = [limits.reason(start) or ""]
                yield start, min(reasons, default="")
                work.renew()
        except Spent:  # as far as its fire times are known
            return

    def _meeting(self, after: int, end: int, work: Work) -> tuple[int, list[str]] | None:
        """The first instant, strictly later, that all rules name; and why members do not."""
        top = after + 1
        while True:
            reasons = []
            for member in self.members:
                work.spend(1)
                slot = next(member.slots(top - 1, end), None)
                if slot is None:
                    return None
                if slot[0] > top:
                    top = slot[0]
                    break
                if slot[1]:
                    reasons.append(slot[1])
            else:
                return top, reasons

    def busiest(self) -> tuple[int, int]:
        """As often as the rarest member."""
        each = [member.busiest() for member in self.members]
        return min(day for day, _ in each), min(minute for _, minute in each)

    def _rule_in_words(self) -> str:
        return "when these coincide: " + ", and ".join(each.explain() for each in self.members)

    def _fit(self, trigger: object) -> Trigger:
        member = Several._fit(self, trigger)  # noqa: SLF001 - of its own base
        if not member.fires:
            reason = "a member that never fires by itself leaves no fire time in common"
            raise InvalidTrigger(reason, field=self.KIND, hint="Leave it out")
        if member.bound("") is not member:
            reason = "H chooses another time for each job, at which the others do not fire"
            raise InvalidTrigger(reason, field=self.KIND, hint="Write the time instead of H")
        return member
