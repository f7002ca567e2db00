"""Tickwell: a job scheduler that answers every fire time exactly once, in one process or many."""

from tickwell.domain.celery import Celery
from tickwell.domain.execution import Execution, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.http import Basic, Bearer, Http, Json, OAuth
from tickwell.domain.job import Job
from tickwell.domain.policy import (
    Backoff,
    Delivery,
    Misfire,
    OnMisfire,
    Retention,
    Retry,
    Timeout,
)
from tickwell.domain.target import Call
from tickwell.domain.trigger import (
    Calendar,
    CalendarEvery,
    Cron,
    Every,
    Once,
    OnDemand,
    Trigger,
    Union,
    Window,
)
from tickwell.errors import TickwellError
from tickwell.executors.run import Run
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings

__all__ = [
    "Backoff",
    "Basic",
    "Bearer",
    "Calendar",
    "CalendarEvery",
    "Call",
    "Celery",
    "Concurrency",
    "Cron",
    "Delivery",
    "Every",
    "Execution",
    "Http",
    "Job",
    "Json",
    "Misfire",
    "OAuth",
    "OnDemand",
    "OnMisfire",
    "Once",
    "Overlap",
    "Retention",
    "Retry",
    "Run",
    "Scheduler",
    "Settings",
    "State",
    "TickwellError",
    "Timeout",
    "Trigger",
    "Union",
    "Window",
]
