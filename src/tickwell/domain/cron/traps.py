"""What may surprise whoever wrote an expression."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tickwell.domain.cron.expression import Expression
from tickwell.domain.cron.rule import Rule
from tickwell.domain.cron.wall import Fold, Gap, changes_within

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Of changes before 2026 nobody is warned; seconds. Ten years hold every kind of them.
_FIRST, _YEARS = 1_767_225_600, 315_532_800

_FOLDS = {
    "first": "it runs the first time only (dst_fold=first)",
    "last": "it runs the second time only (dst_fold=last)",
    "both": "it runs both times (dst_fold=both)",
}


def traps(rule: Rule, tz: str, gap: Gap, fold: Fold, since: int) -> list[str]:
    """Warnings about the two day fields, and about the next changes of the clocks."""
    found = _day_fields(rule.expression)
    if not rule.expression.texts[2].startswith("*"):
        found += _clock_changes(rule, tz, gap, fold, max(since // 1000, _FIRST))
    return found


def _day_fields(expression: Expression) -> list[str]:
    day, weekday = expression.texts[3], expression.texts[5]
    if day in ("*", "?") or weekday in ("*", "?"):
        return []
    if expression.both_days:
        both = "one of them begins with *, so it fires only when both match"
        return [f"day-of-month {day} and day-of-week {weekday} are both set: {both}"]
    either = "it fires when either one matches, as cron has always done"
    return [f"day-of-month {day} and day-of-week {weekday} are both set: {either}"]


def _clock_changes(rule: Rule, tz: str, gap: Gap, fold: Fold, since: int) -> list[str]:
    missing = repeated = ""
    fixed = rule.expression.fixed_time
    for change in changes_within(tz, since, since + _YEARS):
        low, high = sorted((change.instant + change.before, change.instant + change.after))
        wall = rule.at_or_after(low)
        if wall is None or wall >= high:
            continue
        if change.after > change.before and not missing:
            happens = _after_gap(high, gap) if fixed else "what falls into it does not run"
            missing = f"{_say(wall)} in {tz} is missing, as clocks go forward: {happens}"
        if change.after < change.before and not repeated:
            happens = _FOLDS[fold] if fixed else "it runs both times, following elapsed time"
            repeated = f"{_say(wall)} in {tz} happens twice, as clocks go back: {happens}"
    return [warning for warning in (missing, repeated) if warning]


def _after_gap(end: int, gap: Gap) -> str:
    if gap == "skip":
        return "it does not run then (dst_gap=skip)"
    return f"it runs at {_EPOCH + timedelta(0, end):%H:%M} instead (dst_gap=shift)"


def _say(wall: int) -> str:
    return f"{_EPOCH + timedelta(0, wall):%Y-%m-%d %H:%M}"
