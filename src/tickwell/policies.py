"""Policies of a job: what `@scheduler.job`, `add_job` and `edit_job` accept by keyword."""

from tickwell.declared.policies import Policies
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import (
    Backoff,
    Delivery,
    Misfire,
    OnMisfire,
    Retention,
    Retry,
    Timeout,
)

__all__ = [
    "Backoff",
    "Concurrency",
    "Delivery",
    "Misfire",
    "OnMisfire",
    "Overlap",
    "Policies",
    "Retention",
    "Retry",
    "Timeout",
]
