"""Outcomes: which jobs of projects with alerts ended a run, told to the evaluator by records.

The evaluator is one process, attempts end in all of them. An outcome that is lost in a crash costs
no alert: whether a job is missing is read from its history, and a failing job fails again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tickwell.domain.event import AttemptsFinished, Event, Recovered
from tickwell.domain.execution import State
from tickwell.domain.policy import HOUR
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.projects.platform import PLATFORM

KIND = "alert_outcomes"
#: Milliseconds until outcomes that no evaluator took are forgotten.
_KEPT = HOUR
#: Records that one look reads: of each process one a period.
_MOST = 1000
#: Jobs that one process notes until it writes; those beyond are found by their next run.
_MOST_JOBS = 50_000


@dataclass(slots=True)
class Ended:
    """What became of a job's executions since the last look."""

    #: When one last succeeded; 0: none did.
    succeeded_at: int = 0
    has_died: bool = False
    #: Milliseconds that the longest attempt took.
    took: int = 0

    def add(self, other: Ended) -> None:
        """Note the other's as well."""
        self.succeeded_at = max(self.succeeded_at, other.succeeded_at)
        self.has_died |= other.has_died
        self.took = max(self.took, other.took)


#: By project and job.
Outcomes = dict[str, dict[str, Ended]]


class OutcomeNotes:
    """Listens to what is reported in this process."""

    def __init__(self) -> None:
        #: Projects that have alerts.
        self.projects: Collection[str] = frozenset()
        self._noted: Outcomes = {}
        self._jobs = 0
        self._writes = 0

    def hear(self, event: Event) -> None:
        """A listener of the engine's events; without alerts it looks at nothing."""
        if not self.projects or not isinstance(event, AttemptsFinished | Recovered):
            return
        for report in event.reports:
            project, state = report.claim.job.project, report.state
            if project not in self.projects:
                continue
            started = report.started_at
            self._add(
                project,
                report.claim.job.id,
                Ended(
                    succeeded_at=report.ended_at if state is State.SUCCEEDED else 0,
                    has_died=state is State.DEAD,
                    took=0 if started is None else report.ended_at - started,
                ),
            )

    async def write(self, store: RecordStore, owner: str, now: int) -> None:
        """Tell the evaluator; where the store is away, with what follows."""
        if not self._noted:
            return
        noted, self._noted, self._jobs = self._noted, {}, 0
        self._writes += 1
        record = Record(
            kind=KIND,
            project=PLATFORM,
            key=f"{now:015d}/{owner}/{self._writes}",
            document=_to_document(noted),
            expires_at=now + _KEPT,
        )
        try:
            await store.put_record(record, now)
        except BaseException:
            for project, jobs in noted.items():
                for job, ended in jobs.items():
                    self._add(project, job, ended)
            raise

    def _add(self, project: str, job: str, ended: Ended) -> None:
        jobs = self._noted.setdefault(project, {})
        known = jobs.get(job)
        if known is not None:
            known.add(ended)
        elif self._jobs < _MOST_JOBS:
            jobs[job] = ended
            self._jobs += 1


async def read_outcomes(store: RecordStore, now: int) -> tuple[Outcomes, list[str]]:
    """What all processes noted, and the keys to delete once it has been looked at."""
    found: Outcomes = {}
    records = await store.list_records(KIND, PLATFORM, "", now, _MOST)
    for record in records:
        for project, jobs in record.document.items():
            into = found.setdefault(project, {})
            for job, (succeeded_at, took, has_died) in jobs.items():
                into.setdefault(job, Ended()).add(Ended(succeeded_at, bool(has_died), took))
    return found, [record.key for record in records]


async def forget_outcomes(store: RecordStore, keys: Collection[str]) -> None:
    """They were looked at."""
    for key in keys:
        await store.delete_record(KIND, PLATFORM, key)


def _to_document(noted: Outcomes) -> dict[str, Any]:
    return {
        project: {
            job: [each.succeeded_at, each.took, int(each.has_died)] for job, each in jobs.items()
        }
        for project, jobs in noted.items()
    }
