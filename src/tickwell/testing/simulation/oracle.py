"""The verdict at the end: every fire time is answered, and nothing is left lying about.

The fire times come from the triggers; `plan` has no part in it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tickwell.clock import NEVER
from tickwell.domain.coverage import within
from tickwell.domain.execution import ENDED, Kind, OutcomeKind, State
from tickwell.domain.job import Cursor, Entry, Job, JobState, PauseScope
from tickwell.domain.rate import period_of
from tickwell.ids import execution_id
from tickwell.testing.simulation.watch import Watch
from tickwell.testing.simulation.world import World

#: Milliseconds after which a healthy core has answered and ended whatever came due.
BOUND = 20_000


class Oracle:
    """Checks the complete run."""

    def __init__(self, world: World, watch: Watch) -> None:
        self.world = world
        self.rows = watch.rows
        self.leases = watch.leases
        self.cursors = watch.cursors
        self.end = world.store_time() - BOUND

    def judge(self) -> None:
        """Raise for the first broken promise."""
        self._nothing_is_stuck()
        self._what_succeeded_ran()
        self._rates_held()
        for id, entry in self.world.store.tables.jobs.items():
            self._no_phantoms(id)
            self._is_not_left_paused(entry)
            if entry.job.trigger.follows_finish:
                self._goes_on(entry.job, entry.cursor)
            for job, since, until in self._reigns(id, entry.cursor):
                self._answered(job, since, until)
            self._runs(entry.job, entry.cursor)
            self._counts(entry.job)

    def _is_not_left_paused(self, entry: Entry) -> None:
        """No job stays paused with a project that is resumed."""
        pause = entry.cursor.pause
        if pause is not None and pause.scope is not PauseScope.JOB:
            raise self.world.fail(f"{entry.job.id} is still paused with its project: {pause}")

    def _nothing_is_stuck(self) -> None:
        for row in self.world.store.tables.rows.values():
            one = row.execution
            if one.state in ENDED or one.run_at > self.end:
                continue
            raise self.world.fail(
                f"{one.id} of {one.job_id} is {one.state}, due"
                f" {self.world.store_time() - one.run_at} ms ago: {one}"
            )

    def _what_succeeded_ran(self) -> None:
        for id, seen in self.rows.seen.items():
            ran = any(
                self.leases.ends.get((id, number)) is OutcomeKind.SUCCEEDED
                for number in range(1, seen.attempt + 1)
            )
            if seen.state is State.SUCCEEDED and not ran:
                raise self.world.fail(f"{id} succeeded on record alone")

    def _rates_held(self) -> None:
        """In no period of a rate were there more starts than it allows."""
        for (gate, limit), starts in self.leases.rated.items():
            starts.sort()
            for first, later in zip(starts, starts[limit:], strict=False):
                if gate is not None and later - first < period_of(gate):
                    raise self.world.fail(f"more than {limit} starts of {gate} from {first} on")

    def _reigns(self, id: str, cursor: Cursor) -> Iterator[tuple[Job, int, int]]:
        """From when to when each version of a job had to answer."""
        versions = self.cursors.versions[id]
        end = min(self.end, self.cursors.deleted.get(id, NEVER))
        if cursor.pause is not None:
            end = min(end, cursor.pause.since)
        for job, following in zip(versions, [*versions[1:], None], strict=True):
            until = end if following is None else min(end, following.saved_at)
            yield job, job.saved_at, until

    def _answered(self, job: Job, since: int, until: int) -> None:
        if job.trigger.follows_finish or job.trigger.max_runs is not None:
            return
        skips = self.cursors.skips.get(job.id, [])
        ranges = sorted((skip.first, skip.last) for skip in skips if skip.count)
        firsts = [first for first, _ in ranges]
        lasts: list[int] = []
        for _, last in ranges:
            lasts.append(max(last, lasts[-1] if lasts else last))
        for fire in job.trigger.between(since, until):
            index = bisect_right(firsts, fire)
            is_passed = index and fire <= lasts[index - 1]
            if not is_passed and execution_id(job.id, fire) not in self.rows.seen:
                raise self.world.fail(f"{job.id}: the fire at {fire} was lost; ends {until}")

    def _runs(self, job: Job, cursor: Cursor) -> None:
        """No more executions than `max_runs`; all of them once the job says that it is finished."""
        limit = job.trigger.max_runs
        if limit is None or len(self.cursors.versions[job.id]) > 1:
            return
        states = [
            seen.state
            for seen in self.rows.seen.values()
            if seen.job_id == job.id and seen.kind is Kind.FIRE
        ]
        runs = sum(state is not State.SKIPPED for state in states)
        if runs > limit or (cursor.state is JobState.FINISHED and runs < limit):
            raise self.world.fail(f"{job.id} is {cursor.state} after {runs} of {limit} runs")

    def _counts(self, job: Job) -> None:
        """The ranges count each fire time that they answer once, and none that has a row."""
        if job.trigger.follows_finish or len(self.cursors.versions[job.id]) > 1:
            return
        skips = [skip for skip in self.cursors.skips.get(job.id, []) if skip.count]
        if not skips:
            return
        first, last = min(one.first for one in skips), max(one.last for one in skips)
        fires = within(job.trigger.between(first - 1, last), skips)
        answered = sum(execution_id(job.id, fire) not in self.rows.seen for fire in fires)
        counted = sum(skip.count for skip in skips)
        if counted != answered:
            raise self.world.fail(f"{job.id}: ranges count {counted} and answer {answered}")

    def _goes_on(self, job: Job, cursor: Cursor) -> None:
        """A job that counts from the end has a next fire time, or a run that is live."""
        if cursor.state is not JobState.ACTIVE or cursor.next_fire_time is not None:
            return
        ids = self.world.store.tables.by_job.get(job.id, set())
        rows = self.world.store.tables.rows
        if all(rows[id].execution.state in ENDED for id in ids):
            raise self.world.fail(f"{job.id} waits for the end of a run that is not there")

    def _no_phantoms(self, id: str) -> None:
        """Every execution of a fire time belongs to a fire time of some version."""
        versions = [job for job in self.cursors.versions[id] if not job.trigger.follows_finish]
        if len(versions) < len(self.cursors.versions[id]):
            return
        for key, seen in self.rows.seen.items():
            if seen.job_id != id or seen.kind is not Kind.FIRE:
                continue
            fire = seen.fire_time
            if not any(job.trigger.after(fire - 1) == fire for job in versions):
                raise self.world.fail(f"{key} of {id} belongs to no fire time")
