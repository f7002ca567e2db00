"""Single occurrences of a job, as documents have them."""

from __future__ import annotations

from tickwell.services.operations.schema import Input, Instant, Output, field


class SkipBody(Input):
    """Which occurrence, by its fire time, and why."""

    at: Instant
    note: str = field("", max_length=1000, example="the receiver is being moved")


class UnskipBody(Input):
    """Which occurrence, by its fire time."""

    at: Instant


class OccurrenceSkipped(Output):
    """An occurrence, and whether it is skipped now."""

    job_id: str
    fire_time: Instant
    skipped: bool


class Fires(Output):
    """Fire times to come, and those of them at which a person lets the job not run."""

    items: list[Instant]
    skipped: list[Instant]
