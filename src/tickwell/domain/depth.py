"""Queue depth: how many executions were due and not running, by project and queue, and by job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tickwell.domain.policy import DAY, HOUR, MINUTE
from tickwell.domain.tally import HOURS, MINUTES, Period

#: The kinds of record of each period: a sample of each minute, the highest ones of each hour.
KINDS = {MINUTES: "depth_minute", HOURS: "depth"}
KEPT = {MINUTES: 3 * HOUR + MINUTE, HOURS: 35 * DAY}
#: Depths that one sample holds, the largest first. A tenant may name as many queues as it likes.
MOST = 1000
#: Jobs that one sample holds, the deepest first.
MOST_JOBS = 100
#: All projects, or all queues: their depth is on record too, as the highest sum of an hour is not
#: the sum of the highest parts.
ALL = ""


@dataclass(slots=True)
class Depths:
    """The depth of each queue of each project, and their sums."""

    projects: dict[str, dict[str, int]]
    #: Whether what is not named is empty; else it is unknown.
    complete: bool = True
    #: The same by the id of a job, of those that were looked at.
    jobs: dict[str, int] = field(default_factory=dict)
    #: Whether a job that is not named has nothing due; else it is unknown.
    jobs_complete: bool = True

    @classmethod
    def counted(cls, counts: Iterable[tuple[str, str, int]]) -> Depths:
        """Depths by project and queue, summed."""
        sums: Counter[tuple[str, str]] = Counter()
        for project, queue, count in counts:
            if count:
                for key in ((project, queue), (project, ALL), (ALL, queue), (ALL, ALL)):
                    sums[key] += count
        made = cls({}, complete=len(sums) <= MOST)
        for (project, queue), count in sums.most_common(MOST):
            made.projects.setdefault(project, {})[queue] = count
        return made

    def of(self, project: str | None, queue: str | None = None) -> int | None:
        """The depth of a queue or of all, of a project or of all; None: it is unknown."""
        queues = self.projects.get(project or ALL, {})
        return queues.get(queue or ALL, 0 if self.complete else None)

    def note_jobs(self, counts: Counter[str], *, complete: bool) -> None:
        """Name the deepest jobs."""
        self.jobs = dict(counts.most_common(MOST_JOBS))
        self.jobs_complete = complete and len(counts) <= MOST_JOBS

    def of_job(self, id: str) -> int | None:
        """The depth of a job; None: it is unknown."""
        return self.jobs.get(id, 0 if self.jobs_complete else None)

    def raise_to(self, other: Depths) -> bool:
        """Keep the higher of each of the two; return whether this one changed."""
        before = deepcopy(self.to_document())
        for project, queues in other.projects.items():
            _raise(self.projects.setdefault(project, {}), queues)
        _raise(self.jobs, other.jobs)
        if len(self.jobs) > MOST_JOBS:
            self.note_jobs(Counter(self.jobs), complete=False)
        self.complete = self.complete and other.complete
        self.jobs_complete = self.jobs_complete and other.jobs_complete
        return before != self.to_document()

    def to_document(self) -> dict[str, Any]:
        """As a record holds it."""
        return {
            "projects": self.projects,
            "complete": self.complete,
            "jobs": self.jobs,
            "jobs_complete": self.jobs_complete,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Depths:
        """What a record held."""
        projects = {
            project: {queue: int(count) for queue, count in queues.items()}
            for project, queues in document.get("projects", {}).items()
        }
        return cls(
            projects,
            complete=bool(document.get("complete", True)),
            jobs={id: int(count) for id, count in document.get("jobs", {}).items()},
            # A sample from before jobs were counted says nothing about them.
            jobs_complete=bool(document.get("jobs_complete", False)),
        )


def _raise(mine: dict[str, int], counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        mine[name] = max(mine.get(name, 0), count)


def depth_key(period: Period, start: int) -> str:
    """The key of the only record of an interval."""
    return period.label(start)
