"""What `from tickwell import …` offers, loaded when the first of these names is asked for."""

from tickwell.declared.function import JobFunction
from tickwell.declared.read_models import (
    Attempt,
    Backfill,
    Changed,
    Execution,
    Job,
    Pause,
    Progress,
    Slot,
    Step,
    Wait,
)
from tickwell.domain.celery import Celery
from tickwell.domain.execution import Kind, OutcomeKind, Reason, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.http import Basic, Bearer, Http, Json, OAuth
from tickwell.domain.job import JobState
from tickwell.domain.note import Output
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
    AllOf,
    AnyOf,
    BusinessDays,
    Calendar,
    CalendarEvery,
    Cron,
    CustomTrigger,
    Every,
    Once,
    OnDemand,
    RRule,
    Trigger,
    Window,
    when,
)
from tickwell.errors import TickwellError
from tickwell.executors.around.depends import Depends
from tickwell.executors.run import GiveUp, Run
from tickwell.scheduler import Scheduler
from tickwell.services.slots.slots import Answer
from tickwell.settings import Settings

__all__ = [
    "AllOf",
    "Answer",
    "AnyOf",
    "Attempt",
    "Backfill",
    "Backoff",
    "Basic",
    "Bearer",
    "BusinessDays",
    "Calendar",
    "CalendarEvery",
    "Call",
    "Celery",
    "Changed",
    "Concurrency",
    "Cron",
    "CustomTrigger",
    "Delivery",
    "Depends",
    "Every",
    "Execution",
    "GiveUp",
    "Http",
    "Job",
    "JobFunction",
    "JobState",
    "Json",
    "Kind",
    "Misfire",
    "OAuth",
    "OnDemand",
    "OnMisfire",
    "Once",
    "OutcomeKind",
    "Output",
    "Overlap",
    "Pause",
    "Progress",
    "RRule",
    "Reason",
    "Retention",
    "Retry",
    "Run",
    "Scheduler",
    "Settings",
    "Slot",
    "State",
    "Step",
    "TickwellError",
    "Timeout",
    "Trigger",
    "Wait",
    "Window",
    "when",
]
