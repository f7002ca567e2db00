"""Absences: what is different about a plan that is made after no process was there."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.execution import Execution
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import MINUTE

#: Overlap rules by which fires that are due together would be skipped: after an absence they wait
#: for each other.
WAITING_IN_LINE = frozenset({Overlap.SKIP, Overlap.QUEUE_ONE})


@dataclass(frozen=True, slots=True)
class Absence:
    """No process was there, until now: fires that came due meanwhile are planned together.

    At their instants none of them was live, so they wait for each other instead of being skipped
    as overlapping. Only a run that was live at the instant itself overlaps.
    """

    #: Since when a run of the job has been under way, if one is.
    running_since: int | None = None

    def overlap(self, rule: Overlap, run_at: int) -> Overlap:
        """The overlap rule of a fire that came due at this instant."""
        overlapped = self.running_since is not None and self.running_since <= run_at
        return Overlap.QUEUE_ALL if rule in WAITING_IN_LINE and not overlapped else rule


def live_since(run: Execution, job: Job) -> int:
    """Since when a run that was tried has been under way: waits after failed attempts count.

    An attempt that was lost or released with its process is not charged, and was over.
    """
    if run.deadline is None or run.charged > 1:
        return run.fire_time
    # The store sets the deadline when it hands the attempt over.
    return run.deadline - job.timeout.hard - MINUTE
