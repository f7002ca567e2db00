"""Promises about jobs: cursors go back over recalled fires only; what is skipped was missed."""

from __future__ import annotations

from tickwell.domain.coverage import within
from tickwell.domain.execution import RangeSkip, Reason
from tickwell.domain.job import Cursor, Job, JobState
from tickwell.domain.policy import OnMisfire
from tickwell.ids import execution_id
from tickwell.testing.simulation.rows import Rows
from tickwell.testing.simulation.world import World


class Cursors:
    """All jobs that ever were, in all their versions."""

    def __init__(self, world: World, rows: Rows) -> None:
        self.world = world
        self.rows = rows
        self.versions: dict[str, list[Job]] = {}
        self.skips: dict[str, list[RangeSkip]] = {}
        #: When a job was deleted, by the caller's time.
        self.deleted: dict[str, int] = {}
        self._after: dict[str, int] = {}
        #: The latest instant that plans were made for: a call that was held up brings an older one.
        self._planned_at = 0

    def look(self, method: str, now: int) -> None:
        """Compare every job with how it was."""
        if method == "fire_due":
            self._planned_at = max(self._planned_at, now)
        for id, entry in self.world.store.tables.jobs.items():
            job, after = entry.job, entry.cursor.after
            known = self.versions.setdefault(id, [job])
            if known[-1].version != job.version:
                known.append(job)
            before = self._after.get(id, after)
            self._new_skips(job, now)
            # A change goes back over what it withdraws, later than now, so not fired yet; and over
            # what it recalls.
            may_go_back = method == "change_jobs"
            allowed = min(before, now) if may_go_back else before
            if after < allowed and not (may_go_back and self._is_recalled(job, after, allowed)):
                raise self.world.fail(f"the cursor of {id} went back {before - after} ms")
            self._after[id] = after
            if method == "fire_due":
                self._policy(job, entry.cursor)
            if entry.cursor.state == "deleted":
                self.deleted.setdefault(id, now)

    def _is_recalled(self, job: Job, after: int, until: int) -> bool:
        """Whether the cursor went back over fires that are noted as on record, and no others."""
        skips = self.skips[job.id]
        fires = frozenset(job.trigger.between(after, until))
        noted = within(fires, [skip for skip in skips if skip.count == 0])
        return bool(noted) and within(fires, skips) == fires

    def _policy(self, job: Job, cursor: Cursor) -> None:
        """A plan takes the newest of what was recalled up again if it is recent, or wanted so."""
        now, upcoming = self._planned_at, cursor.next_fire_time
        recalled = self.rows.recalled[job.id]
        is_planned = cursor.state is JobState.FINISHED or (
            cursor.state is JobState.ACTIVE and upcoming is not None and upcoming > now
        )
        if not recalled or not is_planned or cursor.nudged or job.trigger.max_runs is not None:
            return
        newest = max(recalled)
        following = job.trigger.after(newest)
        if newest <= job.saved_at or (following is not None and following <= now):
            return
        paused = [skip for skip in self.skips[job.id] if skip.reason is Reason.PAUSED]
        is_wanted = job.misfire.policy is OnMisfire.LATEST or newest >= now - job.misfire.grace
        if is_wanted and not within([newest], paused):
            raise self.world.fail(f"{job.id}: {newest} was recalled, and not planned again")

    def _new_skips(self, job: Job, now: int) -> None:
        known = self.skips.setdefault(job.id, [])
        # Old ones are pruned, so their number says nothing.
        for skip in self.world.store.tables.skips.get(job.id, []):
            if skip in known:
                continue
            if skip.first > skip.last:
                raise self.world.fail(f"{job.id}: {skip} holds nothing")
            if skip.count < 1:
                self._are_on_record(job, skip)
            elif skip.reason is Reason.MISFIRE and skip.last >= now - job.misfire.grace:
                raise self.world.fail(f"{job.id}: {skip} was on time and was skipped")
            known.append(skip)

    def _are_on_record(self, job: Job, skip: RangeSkip) -> None:
        """Look whether what a range without a count stands for is answered otherwise."""
        others = [one for one in self.skips[job.id] if one.count]
        for fire in job.trigger.between(skip.first - 1, skip.last):
            has_row = execution_id(job.id, fire) in self.rows.seen
            if not has_row and not within([fire], others):
                raise self.world.fail(f"{job.id}: {skip} says that {fire} is on record")
