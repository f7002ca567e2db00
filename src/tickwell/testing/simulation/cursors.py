"""Promises about jobs: cursors never go back, and what is passed over was really missed."""

from __future__ import annotations

from tickwell.domain.execution import RangeSkip, Reason
from tickwell.domain.job import Job
from tickwell.ids import execution_id
from tickwell.testing.simulation.world import World


class Cursors:
    """All jobs that ever were, in all their versions."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.versions: dict[str, list[Job]] = {}
        self.skips: dict[str, list[RangeSkip]] = {}
        #: When a job was deleted, by the caller's time.
        self.deleted: dict[str, int] = {}
        self._after: dict[str, int] = {}

    def look(self, method: str, now: int) -> None:
        """Compare every job with how it was."""
        for id, entry in self.world.store.tables.jobs.items():
            job, after = entry.job, entry.cursor.after
            known = self.versions.setdefault(id, [job])
            if known[-1].version != job.version:
                known.append(job)
            before = self._after.get(id, after)
            # A change goes back over what it withdraws: later than now, so not fired yet.
            allowed = min(before, now) if method == "change_jobs" else before
            recalled = method == "change_jobs" and self._is_before_recalled(id, after)
            if after < allowed and not recalled:
                raise self.world.fail(f"the cursor of {id} went back {before - after} ms")
            self._after[id] = after
            self._new_skips(job, now)
            if entry.cursor.state == "deleted":
                self.deleted.setdefault(id, now)

    def _is_before_recalled(self, id: str, after: int) -> bool:
        """Whether the cursor went back to a fire on record: recalled, or started meanwhile.

        Its id is taken, so it does not fire twice.
        """
        return execution_id(id, after + 1) in self.world.store.tables.rows

    def _new_skips(self, job: Job, now: int) -> None:
        known = self.skips.setdefault(job.id, [])
        # Old ones are pruned, so their number says nothing.
        for skip in self.world.store.tables.skips.get(job.id, []):
            if skip in known:
                continue
            misfired = skip.reason is Reason.MISFIRE and skip.count > 0
            if misfired and skip.last >= now - job.misfire.grace:
                raise self.world.fail(f"{job.id}: {skip} was on time and was skipped")
            on_record = execution_id(job.id, skip.first) in self.world.store.tables.rows
            if skip.first > skip.last or (skip.count < 1 and not on_record):
                raise self.world.fail(f"{job.id}: {skip} holds nothing")
            known.append(skip)
