"""The backlog gate: how many missed fires a planner starts at once, and who holds the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tickwell.clock import NEVER, Clock
from tickwell.domain.backlog import BacklogAnswer, BacklogGate
from tickwell.domain.event import BacklogHeld
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.job import Cursor, Job
from tickwell.domain.planning import Plan
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.settings import Settings

#: The note that jobs of a project may hold missed fires: by project, among the platform's records.
BACKLOG_KIND = "backlog"
#: Seconds for which a planner counts on a note that it has written. A reader that finds nothing
#: held removes one that is `SETTLED` milliseconds old, and no younger.
NOTED_FOR = 30.0
SETTLED = 60_000


class BacklogGates:
    """Counts what a planner catches up, project by project, until it is through."""

    def __init__(self, store: RecordStore, clock: Clock, settings: Settings) -> None:
        self.store = store
        self.clock = clock
        self.per_job = settings.backlog_of_job or NEVER
        self.per_project = settings.backlog_of_project or NEVER
        self.wait = round(settings.backlog_wait * 1000)
        self.answer = BacklogAnswer(settings.backlog_answer)
        #: Missed fires that were started, by project and job: a store may plan a job twice.
        self._started = defaultdict[str, dict[str, int]](dict)
        self._used = defaultdict[str, int](int)
        self._noted: dict[str, float] = {}
        self._to_note: set[str] = set()
        #: What this step holds, by project and job.
        self._held = defaultdict[str, dict[str, int]](dict)

    def of(self, project: str) -> BacklogGate:
        """What the project's next job may start at once."""
        room = self.per_project - self._used[project]
        return BacklogGate(job=self.per_job, room=room, wait=self.wait, answer=self.answer)

    def admit(self, job: Job, before: Cursor, made: Plan, now: int) -> Plan:
        """Count a plan. One that holds fires is left for later where the project has no note yet.

        Were the note written after it, a crash between the two would hide what is held.
        """
        backlog = made.cursor.backlog
        if backlog is not None and backlog != before.backlog:
            if not self._is_noted(job.project):
                self._to_note.add(job.project)
                return Plan(before, more=True)
            self._held[job.project][job.id] = backlog.count
        if made.executions and made.executions[0].fire_time < now - job.misfire.grace:
            late = sum(new.fire_time < now - job.misfire.grace for new in made.executions)
            started = self._started[job.project]
            self._used[job.project] += late - started.get(job.id, 0)
            started[job.id] = late
        return made

    async def note(self) -> None:
        """Write the notes that this step asked for: its jobs are planned by the next one."""
        if not self._to_note:
            return
        now = self.clock.now()
        records = [
            Record(
                kind=BACKLOG_KIND,
                project=PLATFORM_PROJECT,
                key=project,
                document={"at": now},
                expires_at=now + self.wait + 2 * SETTLED,
            )
            for project in sorted(self._to_note)
        ]
        await self.store.put_records(records, now)
        self._noted.update(dict.fromkeys(self._to_note, self.clock.monotonic()))
        self._to_note.clear()

    def held(self) -> Iterator[BacklogHeld]:
        """What the step held, told once."""
        for project, jobs in self._held.items():
            yield BacklogHeld(project=project, jobs=len(jobs), runs=sum(jobs.values()))
        self._held.clear()

    def caught_up(self) -> None:
        """Nothing is due any more: what is missed from now on counts anew."""
        self._started.clear()
        self._used.clear()

    def _is_noted(self, project: str) -> bool:
        at = self._noted.get(project)
        return at is not None and self.clock.monotonic() - at < NOTED_FOR
