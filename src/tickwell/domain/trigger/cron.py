"""Fires by a cron expression, in a zone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import cast

from tickwell.domain.cron import (
    Rule,
    Wall,
    check_zone,
    choices,
    describe,
    first_after,
    has_hash,
    parse,
    traps,
    wall,
)
from tickwell.domain.cron.dialect import DIALECTS, NAMES, Dialect, unwrapped
from tickwell.domain.cron.expression import split, words
from tickwell.domain.cron.search import WallRule
from tickwell.domain.cron.wall import Fold, Gap
from tickwell.domain.cron.zone import FIRST_SECOND, LAST_SECOND, UNNAMED
from tickwell.domain.trigger.business_days import BusinessDays, check_business_days
from tickwell.domain.trigger.calendar import Calendars
from tickwell.domain.trigger.choice import check_choice
from tickwell.domain.trigger.duration import Duration
from tickwell.domain.trigger.moment import no_instant
from tickwell.domain.trigger.trigger import Trigger, fill
from tickwell.domain.trigger.window import Window
from tickwell.domain.trigger.work import Work, one_reading, trial
from tickwell.errors import InvalidTrigger

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_from_seconds = datetime.fromtimestamp
#: Added to an instant at half the cost of making one: cronsim counts such expressions up as well.
_SPANS = tuple(timedelta(0, seconds) for seconds in range(61))


@dataclass(frozen=True, slots=True, init=False)
class Cron(Trigger):
    """Five fields, or six with seconds first, read as Debian's cron reads them."""

    expr: str
    tz: str
    #: A time of day that is missing when clocks go forward: at the first instant after, or not.
    dst_gap: Gap
    #: A time of day that happens twice when clocks go back: which of the two.
    dst_fold: Fold
    #: Whose expression it is: cron's, or that of Quartz, EventBridge ("aws") or Celery.
    dialect: Dialect
    #: Moves fires from weekends and holidays to a business day.
    business_days: BusinessDays | None
    _chosen: str = field(init=False, repr=False, compare=False)
    _rule: Rule = field(init=False, repr=False, compare=False)
    #: The rule, or the rule with its fires moved.
    _when: WallRule = field(init=False, repr=False, compare=False)
    _wall: Wall = field(init=False, repr=False, compare=False)
    _beat: tuple[int, int] | None = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        expr: str,
        tz: str | tzinfo = UNNAMED,
        *,
        dialect: Dialect = "cron",
        business_days: BusinessDays | None = None,
        dst_gap: Gap = "shift",
        dst_fold: Fold = "first",
        start: datetime | None = None,
        until: datetime | None = None,
        max_runs: int | None = None,
        within: Sequence[Window] = (),
        exclude: Calendars = (),
        jitter: Duration = "0s",
    ) -> None:
        # written out because jitter and lists are taken in more forms than they are kept in
        check_choice(dialect, DIALECTS, "dialect")
        expr = " ".join(words(unwrapped(expr, dialect)))
        if dialect == "cron":
            split(expr)
        fill(
            self,
            expr=expr,
            tz=check_zone(tz),
            dst_gap=dst_gap,
            dst_fold=dst_fold,
            dialect=dialect,
            business_days=check_business_days(business_days),
            start=start,
            until=until,
            max_runs=max_runs,
            within=within,
            exclude=exclude,
            jitter=jitter,
            _limits=None,
        )
        self._settle()

    def _settle(self) -> None:
        """Take the first choice of `H` that ever fires; without `H` there is just the one."""
        failure = None
        with one_reading():
            for expr in choices(self.expr, "") if self.dialect == "cron" else (self.expr,):
                try:
                    self._prepare(expr)
                    Trigger.__post_init__(self)
                except InvalidTrigger as error:
                    failure = failure or error
                    if trial().is_spent:
                        break
                else:
                    return
        if failure:
            raise failure

    def _prepare(self, expr: str) -> None:
        check_choice(self.dst_gap, ("shift", "skip"), "dst_gap")
        check_choice(self.dst_fold, ("first", "last", "both"), "dst_fold")
        rule = parse(expr, self.dialect)
        zone = wall(self.tz)
        if rule.expression.fixed_time:
            zone = wall(self.tz, self.dst_gap, self.dst_fold)
        shift, when = self.business_days, cast("WallRule", rule)
        steady = rule.beat is not None and (self.tz == "UTC" or rule.beat[0] == 1)
        beat = rule.beat if steady and shift is None else None
        if shift is not None:
            shift.check_zone(self.tz)
            when = shift.rule(rule)
        fill(self, _chosen=expr, _rule=rule, _when=when, _wall=zone, _beat=beat)

    @property
    def _zone(self) -> str:
        return self.tz

    @property
    def _toil(self) -> int:
        return 1 if self.business_days is None else 4

    def between(self, start: int, end: int, work: Work | None = None) -> Iterator[int]:
        """The fire times later than start and not later than end; a beat is only counted."""
        known = start > FIRST_SECOND * 1000 and end <= LAST_SECOND * 1000
        first = self._nominal(start) if self._beat and known and self._limits is None else None
        if first is None or self._beat is None:
            return Trigger.between(self, start, end, work)
        return iter(range(first, end + 1, self._beat[0] * 1000))

    def _nominal(self, instant: int) -> int | None:
        found = self._first_after(instant // 1000)
        return None if found is None else found * 1000

    def _first_after(self, second: int) -> int | None:
        if beat := self._beat:
            step, first = beat
            found = second + step - (second - first) % step
            if FIRST_SECOND < found <= LAST_SECOND:
                return found
        return first_after(self._when, second, self._wall)

    def next(self, after: datetime) -> datetime | None:
        """The same in aware datetimes; the answer is in UTC."""
        if self._limits is not None:
            return Trigger.next(self, after)
        # whole seconds all the way: a third of the time of going through milliseconds
        try:
            since = after - _EPOCH
        except TypeError:
            raise no_instant(after, "after") from None
        second = since.days * 86_400 + since.seconds
        beat, known = self._beat, FIRST_SECOND < second < LAST_SECOND - 60
        if beat is not None and beat[0] <= 60 and known and not since.microseconds:
            return _EPOCH + since + _SPANS[beat[0] - (second - beat[1]) % beat[0]]
        found = self._first_after(second)
        return None if found is None else _from_seconds(found, UTC)

    def bound(self, seed: str) -> Cron:
        """The same with every `H` replaced by what this seed chooses."""
        if not self._has_hash:
            return self
        with one_reading():
            for expr in choices(self.expr, seed):
                with suppress(InvalidTrigger):
                    return replace(self, expr=expr)
                if trial().is_spent:
                    break
        # This one was seen to fire inside the windows, whatever the others cost: whether a job can
        # be saved must not depend on its name.
        with one_reading(anew=True):
            return replace(self, expr=self._chosen)

    @property
    def _has_hash(self) -> bool:
        return self.dialect == "cron" and has_hash(self.expr)

    def busiest(self) -> tuple[int, int]:
        """On a day that matches, in a minute that matches."""
        return self._rule.per_day, self._rule.per_minute

    def _rule_in_words(self) -> str:
        text = f"{describe(self._rule.expression)}, {self.tz}"
        if self.business_days is not None:
            text += f", {self.business_days.explain()}"
        if self.dialect != "cron":
            return f"{text} (read as {NAMES[self.dialect]} has it)"
        return f"{text} (H differs from job to job)" if self._has_hash else text

    def warnings(self, since: int = 0) -> list[str]:
        """Both day fields set, and clocks that change when this fires."""
        return traps(self._rule, self.tz, self.dst_gap, self.dst_fold, since)
