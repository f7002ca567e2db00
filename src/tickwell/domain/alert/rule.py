"""Alert rules: a condition of a job or of a project, and how often it is reported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from tickwell.domain.cron.zone import check_zone
from tickwell.domain.policy import HOUR, MINUTE, SECOND
from tickwell.domain.trigger.cron import Cron
from tickwell.domain.trigger.duration import format_duration
from tickwell.errors import InvalidInput

_DAYTIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
#: Milliseconds between two reports of an alert that stays.
REPEAT = 4 * HOUR
#: The shortest `after`, which is an evaluation period, and the shortest `repeat`.
SHORTEST_AFTER, SHORTEST_REPEAT = 15 * SECOND, MINUTE
#: Runs in a row, at most.
MOST_TIMES = 100
#: Failed attempts, as a part of all, that are too many; attempts below which no rate is judged.
TOO_MANY_FAIL, FEWEST_ATTEMPTS = 0.1, 10
#: Executions due and not running that are too many.
TOO_MANY_DUE = 100


#: How many alerts fire, by project and severity: a record of the platform, for the metrics.
FIRING = "alerts_firing"
SEVERITIES = ("critical", "warning")


class Condition(StrEnum):
    """What a rule watches for."""

    #: A job has not succeeded for a time, or since the day before by a time of day.
    MISSING = "missing"
    #: An execution that is due has not started after a time.
    LATE = "late"
    #: An execution runs, or ran, longer than a time.
    SLOW = "slow"
    #: The last executions of a job all died.
    FAILING = "failing"
    #: The last executions of a job were all skipped.
    SKIPPED = "skipped"
    #: A monitor is down: its last check-in reported a failure, or did not come.
    MONITORS = "monitors"
    #: No live planner, while a job is due.
    PLANNER = "planner"
    #: No live worker for work that is due.
    WORKERS = "workers"
    #: More than 10 % of the attempts of the last 5 minutes failed.
    FAILURE_RATE = "failure_rate"
    #: More than 100 executions are due and not running.
    BACKLOG = "backlog"
    #: Missed fires are held until a person decides about them.
    HELD = "held"
    #: Executions died in the last 15 minutes.
    DEAD_LETTERS = "dead_letters"


_TIMED = frozenset({Condition.LATE, Condition.SLOW})
_COUNTED = frozenset({Condition.FAILING, Condition.SKIPPED})
#: Conditions of jobs; the others are of a project, and built in.
OF_JOBS = _TIMED | _COUNTED | {Condition.MISSING}
#: Milliseconds that a condition must hold before the alert fires.
_WAITS = {
    Condition.PLANNER: 15 * SECOND,
    Condition.WORKERS: 15 * SECOND,
    Condition.FAILURE_RATE: MINUTE,
    Condition.BACKLOG: 2 * MINUTE,
}
#: Milliseconds that it must be over before the alert is resolved. The other conditions look back
#: over a time of their own.
_CLEARS = {
    **dict.fromkeys(_TIMED | _COUNTED, 5 * MINUTE),
    Condition.PLANNER: MINUTE,
    Condition.WORKERS: MINUTE,
    Condition.FAILURE_RATE: 5 * MINUTE,
    Condition.BACKLOG: 5 * MINUTE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What to watch for, and where."""

    id: str
    condition: Condition
    #: The id of the only job; None: every job of the project, or the project itself.
    job: str | None = None
    #: Milliseconds: for `missing`, `late` and `slow`.
    after: int | None = None
    #: Runs in a row: for `failing` and `skipped`.
    times: int | None = None
    #: For `missing`, instead of `after`: a time of day by which a job must have succeeded, HH:MM.
    by: str | None = None
    #: The time zone of `by`.
    tz: str = "UTC"
    #: Milliseconds between two reports of an alert that stays.
    repeat: int = REPEAT
    created_at: int = 0
    created_by: str = ""

    def check(self) -> None:
        """Raise `InvalidInput` for what no rule can be."""
        if self.condition not in OF_JOBS:
            words = ", ".join(each for each in Condition if each in OF_JOBS)
            raise InvalidInput("is built in", field="condition", hint=f"Expected one of {words}")
        self._check_time()
        self._check_times()
        if self.repeat < SHORTEST_REPEAT:
            raise InvalidInput("must be 1m or longer", field="repeat")

    def _check_time(self) -> None:
        if self.by is not None:
            if self.condition is not Condition.MISSING or self.after is not None:
                reason = "applies to `missing` only, instead of `after`"
                raise InvalidInput(reason, field="by")
            if not _DAYTIME.fullmatch(self.by):
                raise InvalidInput("is not a time of day", field="by", hint="For example 06:00")
            check_zone(self.tz)
        elif self.condition not in _COUNTED and self.after is None:
            raise InvalidInput("is missing", field="after", hint="For example 25h")
        if self.after is not None:
            if self.condition in _COUNTED:
                raise InvalidInput(f"does not apply to `{self.condition}`", field="after")
            if self.after < SHORTEST_AFTER:
                raise InvalidInput("must be 15s or longer", field="after")

    def _check_times(self) -> None:
        if self.condition not in _COUNTED:
            if self.times is not None:
                raise InvalidInput(f"does not apply to `{self.condition}`", field="times")
        elif self.times is None:
            raise InvalidInput("is missing", field="times", hint="For example 3")
        elif not 1 <= self.times <= MOST_TIMES:
            raise InvalidInput(f"must be between 1 and {MOST_TIMES}", field="times")

    @property
    def is_built_in(self) -> bool:
        """Whether it is built in."""
        return self.condition not in OF_JOBS

    @property
    def severity(self) -> str:
        """How much it matters that something does not run."""
        does_not_run = {
            Condition.MISSING,
            Condition.MONITORS,
            Condition.PLANNER,
            Condition.WORKERS,
        }
        return "critical" if self.condition in does_not_run else "warning"

    @property
    def waits(self) -> int:
        """Milliseconds that the condition must hold before the alert fires."""
        return _WAITS.get(self.condition, 0)

    @property
    def clears(self) -> int:
        """Milliseconds that the condition must be over before the alert is resolved."""
        return _CLEARS.get(self.condition, 0)

    @property
    def words(self) -> str:
        """What it watches for, as a person says it."""
        if self.by is not None:
            return f"no success by {self.by} ({self.tz})"
        if self.after is not None:
            return f"{_TIME_WORDS[self.condition]} {format_duration(self.after)}"
        if self.times is not None:
            verb = "died" if self.condition is Condition.FAILING else "skipped"
            return verb if self.times == 1 else f"{verb} {self.times} times in a row"
        return _BUILT_IN_WORDS[self.condition]

    def due(self, succeeded_at: int) -> int:
        """For `missing`: the instant from which a job is, unless it succeeds again before."""
        if self.by is None:
            return succeeded_at + (self.after or 0)
        daily = _daily(self.by, self.tz)
        counted_for = daily.after(succeeded_at - 1)
        following = None if counted_for is None else daily.after(counted_for)
        if following is None:
            raise ValueError(f"{self.by} in {self.tz} never comes")
        return following

    def to_document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "condition": self.condition.value,
            "job": self.job,
            "after": self.after,
            "times": self.times,
            "by": self.by,
            "tz": self.tz,
            "repeat": self.repeat,
            "created_at": self.created_at,
            "created_by": self.created_by,
        }

    @classmethod
    def from_document(cls, id: str, document: dict[str, Any]) -> Rule:
        """The rule in a stored document."""
        return cls(**document | {"id": id, "condition": Condition(document["condition"])})


_TIME_WORDS = {
    Condition.MISSING: "no success for",
    Condition.LATE: "not started after",
    Condition.SLOW: "runs longer than",
}
_BUILT_IN_WORDS = {
    Condition.MONITORS: "a monitor's check-in is missing or reports a failure",
    Condition.PLANNER: "no live planner while jobs are due",
    Condition.WORKERS: "no live worker for work that is due",
    Condition.FAILURE_RATE: "more than 10 % of attempts failed in 5 minutes",
    Condition.BACKLOG: f"more than {TOO_MANY_DUE} executions due and not running",
    Condition.HELD: "missed fires are held until a person decides",
    Condition.DEAD_LETTERS: "executions died in the last 15 minutes",
}
#: Rules that every project with alerts has.
BUILT_IN = tuple(
    Rule(id=each.value.replace("_", "-"), condition=each)
    for each in Condition
    if each not in OF_JOBS
)


@lru_cache(maxsize=64)
def _daily(by: str, tz: str) -> Cron:
    hours, minutes = by.split(":")
    return Cron(f"{int(minutes)} {int(hours)} * * *", tz=tz)
