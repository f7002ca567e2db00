"""Running executions as their workers see them, and which jobs can be read."""

from __future__ import annotations

from collections.abc import Iterable

from tickwell.domain.execution import Claim
from tickwell.stores.memory.tables import Row, Tables, own
from tickwell.stores.sql.rows.codec import to_json
from tickwell.stores.unreadable import UnreadableJobs


class Claims:
    """Builds claims; a job that cannot be read is left out for a minute."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.unreadable = UnreadableJobs[str]()

    def running(self) -> list[Row]:
        """All running executions, by id."""
        return [self.tables.rows[id] for id in sorted(self.tables.running)]

    def of(self, rows: Iterable[Row], now: int) -> list[Claim]:
        """The claims of these executions, without those whose jobs cannot be read."""
        return [self.claim_of(row) for row in rows if self.can_read(row.execution.job_id, now)]

    def can_read(self, job_id: str, now: int) -> bool:
        """Whether the definition of a job can be used; in memory only a broken one cannot."""
        try:
            return self.tables.jobs[job_id].job.trigger is not None
        except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this job alone
            self.unreadable.add(job_id, job_id, error, now)
            return False

    def claim_of(self, row: Row) -> Claim:
        """The claim of one running execution."""
        execution = row.execution
        job = self.tables.jobs[execution.job_id].job
        return Claim(
            id=execution.id,
            job=job,
            kind=execution.kind,
            attempt=execution.attempt,
            charged=execution.charged,
            lost=execution.lost,
            returned=execution.returned,
            fire_time=execution.fire_time,
            run_at=execution.run_at,
            payload=own(job.payload if execution.payload is None else execution.payload),
            deadline=execution.deadline or 0,
            worker=execution.worker or "",
            claim_id=row.claim_id,
            size=len(to_json(execution.payload) or ""),
            started_at=execution.started_at,
        )
