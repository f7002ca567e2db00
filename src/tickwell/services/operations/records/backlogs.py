"""Shapes of missed fires that are held, and of answers to them."""

from __future__ import annotations

from tickwell.domain.backlog import BacklogAnswer
from tickwell.services.jobs.backlogs import BACKLOG_RATE
from tickwell.services.operations.schema import Input, Instant, Output, field


class HeldJob(Output):
    """A job that holds missed fires."""

    job_id: str
    job: str = field(description="Its name.")
    project: str
    runs: int = field(description="Fire times that are held.")
    first: Instant = field(description="The oldest of them.")
    last: Instant = field(description="The newest of them.")
    since: Instant = field(description="When they were first held.")
    until: Instant = field(description="When the configured answer applies to them.")
    paused: bool = field(description="Whether the job is paused: then they wait with it.")


class Backlog(Output):
    """Missed fires that wait for an answer."""

    jobs: int = field(description="Jobs that hold some.")
    runs: int = field(description="Fire times that they hold together.")
    items: list[HeldJob] = field(description="The first 1,000 of these jobs, by name.")


class PlatformBacklogAnswerBody(Input):
    """What becomes of missed fires that are held, of all projects."""

    answer: BacklogAnswer = field(
        description="none of them runs, the newest one of each job, or all of them."
    )
    rate: float = field(
        BACKLOG_RATE, ge=0.01, le=1000, description="With all: runs a second, of all jobs together."
    )


class BacklogAnswerBody(PlatformBacklogAnswerBody):
    """What becomes of missed fires that are held, of the project or of one job."""

    job: str | None = field(None, description="Name or id of the only job; null: all.")


class BacklogAnswered(Output):
    """What an answer did."""

    jobs: int = field(description="Jobs that hold nothing any more.")
    runs: int = field(description="Fires that run.")
    skipped: int = field(description="Fires that do not run.")
    paused: list[str] = field(
        description="Jobs that go on holding theirs, since they are paused; skip is for these, too."
    )
