"""Cron expressions: read, evaluated on wall time, and said in words."""

from __future__ import annotations

from tickwell.domain.cron.hashing import choices, has_hash
from tickwell.domain.cron.rule import Rule, parse
from tickwell.domain.cron.search import first_after, first_at
from tickwell.domain.cron.traps import missing_day, traps
from tickwell.domain.cron.wall import Wall, wall
from tickwell.domain.cron.weekdays import weekday_mask
from tickwell.domain.cron.words import describe, name_weekdays
from tickwell.domain.cron.zone import check_zone

__all__ = [
    "Rule",
    "Wall",
    "check_zone",
    "choices",
    "describe",
    "first_after",
    "first_at",
    "has_hash",
    "missing_day",
    "name_weekdays",
    "parse",
    "traps",
    "wall",
    "weekday_mask",
]
