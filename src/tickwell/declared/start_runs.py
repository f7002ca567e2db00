"""Runs that the start of a program asks for, as cron's `@reboot` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tickwell.clock import Clock
from tickwell.domain.job import JobState
from tickwell.engine.liveness.process_identity import boot_id
from tickwell.errors import InvalidJob
from tickwell.ids import ENTROPY, new_id
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.executions.executions import Executions
from tickwell.services.jobs.jobs import Jobs

#: How often: at each start of a process that runs a worker, or once for each boot of its machine.
AtStart = Literal["process", "boot"]
#: The record that a boot has had its run, which outlives the history of the job.
KIND = "start_run"
#: Milliseconds for which it is remembered: no machine runs for longer without a boot.
_REMEMBERED = 10 * 366 * 86_400_000


class StartRuns:
    """The jobs of a scheduler that run at its start, and how often."""

    def __init__(self, project: str, boot: Callable[[], str] = boot_id) -> None:
        self._project = project
        self._boot = boot
        self._jobs: dict[str, AtStart] = {}

    def add(self, job: str, at_start: AtStart | None) -> None:
        """Run the job at each start from now on; None: it has no such run."""
        if at_start not in {None, "process", "boot"}:
            raise InvalidJob(
                f"{at_start!r:.40} is not one of process, boot",
                field="at_start",
                hint='Use "process" for each start, "boot" for the first one after a boot',
            )
        if at_start is not None:
            self._jobs[job] = at_start

    async def request(
        self, jobs: Jobs, executions: Executions, store: RecordStore, clock: Clock
    ) -> None:
        """Ask for the runs of this start; a job that is paused has none."""
        # One key for all of this start, or of this boot: asked twice, it is one run.
        start = f"start:{new_id(clock.now(), ENTROPY)}"
        boot = self._boot()
        for name, at_start in self._jobs.items():
            entry, now = await jobs.get(self._project, name), clock.now()
            if entry.cursor.state is JobState.PAUSED:
                continue
            # Where nothing tells one boot from another each start counts.
            if at_start == "process" or not boot:
                await executions.trigger(self._project, entry.job.id, key=start)
                continue
            mark = f"{entry.job.id}/{boot}"
            if await store.get_record(KIND, self._project, mark, now) is not None:
                continue
            await executions.trigger(self._project, entry.job.id, key=f"boot:{boot}")
            record = Record(
                kind=KIND,
                project=self._project,
                key=mark,
                document={},
                expires_at=now + _REMEMBERED,
            )
            await store.put_record(record, now)
