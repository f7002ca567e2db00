"""Health: what keeps jobs from running, how bad it is, and what to do. One function judges it."""

from tickwell.domain.health.facts import (
    CalendarEnd,
    Facts,
    LinkState,
    PausedQueue,
    Platform,
    ProjectFacts,
    Work,
)
from tickwell.domain.health.judge import judge
from tickwell.domain.health.verdict import Finding, Health, Level, ProcessHealth

__all__ = [
    "CalendarEnd",
    "Facts",
    "Finding",
    "Health",
    "Level",
    "LinkState",
    "PausedQueue",
    "Platform",
    "ProcessHealth",
    "ProjectFacts",
    "Work",
    "judge",
]
