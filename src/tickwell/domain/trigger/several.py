"""What the triggers that join others have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Self, TypeVar

from tickwell.clock import NEVER
from tickwell.domain.trigger.calendar import Calendars
from tickwell.domain.trigger.duration import Duration
from tickwell.domain.trigger.leaps import Leaps, confined, found
from tickwell.domain.trigger.limits import Limits
from tickwell.domain.trigger.trigger import Trigger, fill
from tickwell.domain.trigger.window import Window
from tickwell.domain.trigger.work import Work, is_tried, one_reading
from tickwell.errors import InvalidTrigger

MOST = 64
#: With all that is nested.
MOST_IN_ALL = 128

S = TypeVar("S", bound="Several")


@dataclass(frozen=True, slots=True, init=False)
class Several(Trigger):
    """Members, and confines that hold on top of those of the members."""

    #: What the document calls it, and how it is written in code.
    KIND: ClassVar[str]
    EXAMPLE: ClassVar[str]

    members: tuple[Trigger, ...]

    def __init__(
        self,
        *triggers: Trigger,
        members: tuple[Trigger, ...] = (),
        start: datetime | None = None,
        until: datetime | None = None,
        max_runs: int | None = None,
        within: Sequence[Window] = (),
        exclude: Calendars = (),
        jitter: Duration = "0s",
    ) -> None:
        # written out because members are given one by one
        fill(
            self,
            members=self._flat((*triggers, *members)),
            start=start,
            until=until,
            max_runs=max_runs,
            within=within,
            exclude=exclude,
            jitter=jitter,
            _limits=None,
        )
        self.__post_init__()

    @abstractmethod
    def _joined(self, instant: int, work: Work) -> Leaps:
        """The leaps of all members together."""

    def leaps(self, instant: int, work: Work) -> Leaps:
        """Those of all members together; they are sent past what its own confines take out."""
        limits = self._limits
        leaps = self._joined(instant if limits is None else limits.begin(instant), work)
        return leaps if limits is None else confined(leaps, limits, work)

    def after(self, instant: int) -> int | None:
        """The first fire time strictly later than the instant."""
        return next(self.between(instant, NEVER), None)

    def _search(self, instant: int, limits: Limits | None, work: Work) -> int | None:
        del limits  # its leaps know them
        return next((leap for leap, sure in self.leaps(instant, work) if sure), None)

    def between(self, start: int, end: int, work: Work | None = None) -> Iterator[int]:
        """The fire times later than start and not later than end."""
        work = work or Work()
        return found(self.leaps(start, work), end, work)

    def single(self) -> Iterator[Trigger]:
        """Each trigger in it that joins no others."""
        for member in self.members:
            yield from member.single()

    def bound(self, seed: str) -> Self:
        """The same with every member bound."""
        with one_reading():
            members = tuple(member.bound(seed) for member in self.members)
        if all(new is old for new, old in zip(members, self.members, strict=True)):
            return self
        with one_reading(anew=True):  # the choices of `H` may have cost all that may be spent
            return replace(self, members=members)

    def warnings(self, since: int = 0) -> list[str]:
        """Those of all members."""
        return [warning for member in self.members for warning in member.warnings(since)]

    def _flat(self, triggers: tuple[object, ...]) -> tuple[Trigger, ...]:
        """Each member once, in order; one of the same kind gives way to its members."""
        members: dict[Trigger, None] = {}
        for trigger in triggers:
            member = self._fit(trigger)
            if type(member) is type(self) and not member.has_limits:
                members |= dict.fromkeys(member.members)
            else:
                members[member] = None
        if not 1 <= len(members) <= MOST:
            raise InvalidTrigger(f"takes 1 to {MOST} triggers", field=self.KIND)
        in_all = 0 if is_tried() else sum(1 for trigger in members for _ in trigger.single())
        if in_all > MOST_IN_ALL:
            reason = f"takes {MOST_IN_ALL} triggers in all, with those of the unions in it"
            raise InvalidTrigger(reason, field=self.KIND, hint="Make it several jobs")
        return tuple(members)

    def _fit(self, trigger: object) -> Trigger:
        """A trigger that may be a member."""
        if not isinstance(trigger, Trigger):
            hint = f"For example: {self.EXAMPLE}"
            raise InvalidTrigger("takes triggers", field=self.KIND, hint=hint)
        if trigger.follows_finish:
            reason = "an interval counted from the end of a run cannot be joined with others"
            raise InvalidTrigger(reason, field=self.KIND, hint="Make it a job of its own")
        if trigger.max_runs or trigger.jitter:
            reason = "max_runs and jitter are counted for the whole, not for one member"
            hint = f"Set them on {type(self).__name__}(…)"
            raise InvalidTrigger(reason, field=self.KIND, hint=hint)
        return trigger
