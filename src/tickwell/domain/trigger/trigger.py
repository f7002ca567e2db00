"""What all triggers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tickwell.clock import NEVER, to_millis
from tickwell.domain.trigger.calendar import NO_CALENDARS, CalendarsField, calendars_of
from tickwell.domain.trigger.duration import (
    MillisField,
    default,
    parse_duration,
    say_duration,
)
from tickwell.domain.trigger.leaps import Leaps, bare, leapt
from tickwell.domain.trigger.limits import Limits
from tickwell.domain.trigger.moment import exact, no_instant, say
from tickwell.domain.trigger.window import Window
from tickwell.domain.trigger.work import Spent, Work, is_tried, tried
from tickwell.errors import InvalidTrigger

if TYPE_CHECKING:
    from tickwell.domain.trigger.all_of import AllOf
    from tickwell.domain.trigger.any_of import AnyOf

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

#: 1 January 2024: from here a trigger without `start` is tried when it is made.
TRIED_FROM = 1_704_067_200_000
_MOST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(ABC):
    """A pure rule: given an instant, the next fire time or none.

    Windows and calendars belong to it: what they take out is no fire time.
    """

    #: No fire before this.
    start: datetime | None = None
    #: No fire after this; one at this very moment counts.
    until: datetime | None = None
    #: How many executions in all; counted by the planner.
    max_runs: int | None = None
    #: Only inside any of these.
    within: tuple[Window, ...] = ()
    #: Not on the dates of any of these.
    exclude: CalendarsField = NO_CALENDARS
    #: Up to so many milliseconds later, by a hash; added by the planner.
    jitter: MillisField = default("0s")
    _limits: Limits | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        for name in ("start", "until"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, exact(getattr(self, name), name))
        jitter: Any = self.jitter
        object.__setattr__(self, "jitter", parse_duration(jitter, field="jitter"))
        object.__setattr__(self, "within", _tuple(self.within, Window, "within"))
        object.__setattr__(self, "exclude", calendars_of(self.exclude, "exclude", _MOST))
        runs = self.max_runs
        if runs is not None and (type(runs) is not int or runs < 1):
            hint = "Leave it out for no limit"
            raise InvalidTrigger(
                "must be a whole number of at least 1", field="max_runs", hint=hint
            )
        if self.start or self.until or self.within or self.exclude:
            self._confine()

    def _confine(self) -> None:
        start = to_millis(self.start) if self.start else None
        until = to_millis(self.until) if self.until else None
        if start is not None and until is not None and until < start:
            raise InvalidTrigger("is earlier than start", field="until", hint="Swap the two")
        limits = Limits(start, until, self.within, self.exclude, self._zone, toil=self._toil)
        object.__setattr__(self, "_limits", limits)
        begin = TRIED_FROM if start is None else start
        if until is not None and until < begin:
            begin = -NEVER
        if not self.fires or is_tried():
            return
        field = "within" if self.within else "exclude" if self.exclude else "until"
        try:
            fires = self._ever_fires(begin, limits)
        except Spent:
            reason = "its fire times take too long to compute: too many are excluded"
            hint = "Give fewer members, windows and calendars, or make it several jobs"
            raise InvalidTrigger(reason, field=field, hint=hint) from None
        if not fires:
            raise InvalidTrigger(
                "the trigger never fires inside its start, until, windows and calendars",
                field=field,
                hint="Widen a window, or choose another time",
            )

    def _ever_fires(self, begin: int, limits: Limits | None) -> bool:
        """Whether a search finds a fire time; raises `Spent` where it comes nowhere."""
        known = hash((self, getattr(self, "_chosen", "")))
        return tried(known, lambda work: self._search(begin - 1, limits, work) is not None)

    @property
    def follows_finish(self) -> bool:
        """Whether the next fire counts from the end of the last run."""
        return False

    @property
    def has_limits(self) -> bool:
        """Whether it has `start`, `until`, windows or calendars."""
        return self._limits is not None

    @property
    def is_confined(self) -> bool:
        """Whether something takes out fires of its rule."""
        return self.has_limits

    @property
    def fires(self) -> bool:
        """Whether it ever fires by itself."""
        return True

    def busiest(self) -> tuple[int, int]:
        """The most fires that one day, and one minute, can have; windows are left aside."""
        return 1, 1

    @property
    def _zone(self) -> str:
        """The zone of windows and calendars that name none."""
        return "UTC"

    @property
    def _toil(self) -> int:
        """What the bare rule costs, in units of `Work`."""
        return 1

    @abstractmethod
    def _nominal(self, instant: int) -> int | None:
        """The bare rule's next fire time, strictly later."""

    @abstractmethod
    def _rule_in_words(self) -> str:
        """What the bare rule says."""

    def after(self, instant: int) -> int | None:
        """The first fire time strictly later than the instant."""
        if self._limits is None:
            return self._nominal(instant)
        try:
            return self._search(instant, self._limits, Work())
        except Spent:
            return None

    def _search(self, instant: int, limits: Limits | None, work: Work) -> int | None:
        """The first fire time strictly later that the limits leave in."""
        if limits is None:
            return self._nominal(instant)
        return limits.first(self._nominal, instant, work)

    def leaps(self, instant: int, work: Work) -> Leaps:
        """How far nothing fires from the instant on, told step by step to a union that has it."""
        limits = self._limits
        if limits is None:
            return bare(self._nominal, self._toil, instant, work)
        return leapt(self._nominal, limits, instant, work)

    def next(self, after: datetime) -> datetime | None:
        """The same in aware datetimes; the answer is in UTC."""
        try:
            instant = self.after((after - _EPOCH) // _MILLISECOND)
        except TypeError:
            raise no_instant(after, "after") from None
        if instant is None:
            return None
        seconds, millis = divmod(instant, 1000)
        return _EPOCH + timedelta(0, seconds, millis * 1000)

    def between(self, start: int, end: int, work: Work | None = None) -> Iterator[int]:
        """The fire times later than start and not later than end; what it cost is counted."""
        limits, work = self._limits, work or Work()
        instant: int | None = start
        try:
            while instant is not None:
                work.renew()
                instant = self._search(instant, limits, work)
                if instant is None or instant > end:
                    return
                yield instant
        except Spent:
            work.gave_up = True

    def slots(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """The fire times, and between them what is taken out, with its reason instead of ""."""
        limits = self._limits
        if self.follows_finish:
            return
        if limits is None:
            yield from ((instant, "") for instant in self.between(start, end))
            return
        instant = self._nominal(limits.begin(start))
        while instant is not None and instant <= end and not limits.is_over(instant):
            yield instant, limits.reason(instant) or ""
            instant = self._nominal(instant)

    def excluded(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """What a window or calendar takes out, later than start and not later than end, and why."""
        return ((instant, reason) for instant, reason in self.slots(start, end) if reason)

    def single(self) -> Iterator[Trigger]:
        """Itself; of a union each trigger in it that is none."""
        yield self

    def bound(self, seed: str) -> Trigger:
        """The trigger with every `H` replaced by what this seed chooses."""
        del seed
        return self

    def explain(self) -> str:
        """In plain words."""
        words = self._rule_in_words()
        if self.within:
            words += "; only " + " or ".join(window.explain() for window in self.within)
        if self.exclude:
            words += "; not on the dates of " + ", ".join(each.name for each in self.exclude)
        if self.start:
            words += f"; from {say(self.start)}"
        if self.until:
            words += f"; until {say(self.until)}"
        if self.max_runs:
            words += f"; {self.max_runs} times at most" if self.max_runs > 1 else "; once at most"
        if self.jitter:
            words += f"; each up to {say_duration(self.jitter)} later"
        return words

    def warnings(self, since: int = 0) -> list[str]:
        """Warnings: what this does, at or after an instant, that its author may not expect."""
        return []

    def __or__(self, other: object) -> AnyOf:
        from tickwell.domain.trigger.any_of import AnyOf  # noqa: PLC0415  # a trigger itself

        return AnyOf(self, other) if isinstance(other, Trigger) else NotImplemented

    def __and__(self, other: object) -> AllOf:
        from tickwell.domain.trigger.all_of import AllOf  # noqa: PLC0415  # a trigger itself

        return AllOf(self, other) if isinstance(other, Trigger) else NotImplemented


def fill(trigger: Trigger, **fields: object) -> None:
    """Set fields of a frozen trigger that is being made."""
    for name, value in fields.items():
        object.__setattr__(trigger, name, value)


def _tuple(raw: object, kind: type, name: str) -> tuple[object, ...]:
    entries = (raw,) if isinstance(raw, kind) else raw
    if not isinstance(entries, (tuple, list)) or not all(isinstance(e, kind) for e in entries):
        hint = f"For example: {name}=({kind.__name__}(…),)"
        raise InvalidTrigger(f"takes {kind.__name__}s", field=name, hint=hint)
    if len(entries) > _MOST:
        raise InvalidTrigger(f"takes {_MOST} at most", field=name)
    return tuple(entries)
