"""Deleting what is old in memory."""

from __future__ import annotations

from tickwell.domain.document import job_from_document
from tickwell.domain.execution import ENDED, LIVE, Execution, State
from tickwell.domain.job import JobState
from tickwell.domain.policy import DAY, KEPT_VERSIONS
from tickwell.domain.rate import long_past
from tickwell.stores.memory.tables import Tables


class MemoryPruning:
    """The part of `ports.store.Upkeep` that deletes."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    async def prune(self, now: int, limit: int) -> int:
        old = [id for job_id in self.tables.by_job for id in self._old(job_id, now)][:limit]
        for id in old:
            self.tables.drop_row(id)
        pruned = len(old) + self._prune_skips(now, limit) + self._prune_versions(now, limit)
        pruned += self._prune_records(now, limit) + self._prune_workers(now, limit)
        self._forget_rates(now)
        return pruned + self._prune_jobs(limit)

    def _old(self, job_id: str, now: int) -> list[str]:
        retention = self.tables.jobs[job_id].job.retention
        ended = sorted(
            (
                row.execution
                for row in (self.tables.rows[id] for id in self.tables.by_job[job_id])
                if row.execution.state in ENDED
            ),
            key=lambda execution: execution.id,
            reverse=True,
        )
        kept = 0
        old = []
        for execution in ended:
            dead = execution.state is State.DEAD
            age = retention.dead if dead else retention.age
            if _ended_at(execution) + age <= now or (not dead and kept >= retention.count):
                old.append(execution.id)
            else:
                kept += not dead
        return old

    def _forget_rates(self, now: int) -> None:
        """Forget when permits were free again once all are: keys come from payloads."""
        free, edge = self.tables.key_free, long_past(now)
        for gate in [gate for gate, times in free.items() if not times or times[-1] <= edge]:
            del free[gate]

    def _prune_skips(self, now: int, limit: int) -> int:
        pruned = 0
        for job_id, skips in self.tables.skips.items():
            edge = now - self.tables.jobs[job_id].job.retention.age
            old = [skip for skip in skips if skip.last < edge][: limit - pruned]
            self.tables.skips[job_id] = [skip for skip in skips if skip not in old]
            pruned += len(old)
        return pruned

    def _prune_versions(self, now: int, limit: int) -> int:
        """Former definitions that are many, and were replaced before the history begins."""
        gone = []
        for entry in self.tables.jobs.values():
            job, edge = entry.job, now - entry.job.retention.age
            for version in range(1, job.version - KEPT_VERSIONS):
                key = "job_version", job.project, f"{job.id}/{version:08}"
                after = "job_version", job.project, f"{job.id}/{version + 1:08}"
                if key not in self.tables.records:
                    continue
                if job_from_document(self.tables.records[after].document).saved_at >= edge:
                    break
                gone.append(key)
        for key in gone[:limit]:
            del self.tables.records[key]
        return len(gone[:limit])

    def _prune_records(self, now: int, limit: int) -> int:
        expired = [
            key
            for key, record in self.tables.records.items()
            if record.expires_at is not None and record.expires_at <= now
        ][:limit]
        for key in expired:
            del self.tables.records[key]
        return len(expired)

    def _prune_jobs(self, limit: int) -> int:
        gone = [
            id
            for id, entry in self.tables.jobs.items()
            if entry.cursor.state is JobState.DELETED and not self.tables.by_job.get(id)
        ][:limit]
        for id in gone:
            self.tables.drop_job(id)
        return len(gone)

    def _prune_workers(self, now: int, limit: int) -> int:
        holding = {
            row.execution.worker for row in self.tables.rows.values() if row.execution.state in LIVE
        }
        gone = [
            id
            for id, liveness in self.tables.workers.items()
            if liveness.lost and liveness.seen_at + DAY <= now and id not in holding
        ][:limit]
        for id in gone:
            del self.tables.workers[id]
        return len(gone)


def _ended_at(execution: Execution) -> int:
    return execution.ended_at or 0
