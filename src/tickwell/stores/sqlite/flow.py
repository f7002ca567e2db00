"""How executions move between states, one at a time: admission, ends, and what follows an end.

The memory store's flow in statements. Batches take a shorter way where no gate, no count and no
change of the job is involved; everything else goes through here, in order.
"""

from __future__ import annotations

from collections import Counter
from copy import copy

from tickwell.clock import NEVER
from tickwell.domain.execution import BY_NEWER_FIRE, Reason
from tickwell.domain.job import Job, rank
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import (
    BLOCKED,
    CANCEL_RUNNING,
    CANCELLED,
    DEAD,
    FIRE,
    JOB_GATE,
    QUEUE_ONE,
    SKIP,
    SKIPPED,
    WAITING,
    from_json,
)
from tickwell.stores.sqlite.gates import Gates
from tickwell.stores.sqlite.jobs import Jobs
from tickwell.stores.sqlite.rows import Row
from tickwell.stores.sqlite.session import Session


class Flow:
    """The moves that several operations share, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache) -> None:
        self.session = session
        self.gates = Gates(session)
        self.jobs = Jobs(session, cache)
        #: Ended executions by project and state, and new ones by job, to be written by `close`.
        self.ended: Counter[tuple[str, int]] = Counter()
        self.made: Counter[int] = Counter()

    def close(self) -> None:
        """Write what was counted: the last step of every operation."""
        self.gates.close()
        self.session.many("count_made", [(count, job) for job, count in self.made.items()])
        self.made.clear()
        self.session.many(
            "count_ended",
            [(project, state, count) for (project, state), count in self.ended.items() if count],
        )
        self.ended.clear()

    def admit(self, row: Row, now: int, horizon: int) -> None:
        """Take a waiting execution as far as its instant and its gates allow."""
        if row.run_at > now + horizon:
            row.look_at = row.run_at
            self.gates.move(row, WAITING)
        elif self.gates.take_job(row):
            self.gates.through_key(row)
        elif row.run_at > now:
            # Its instant decides, so promotion looks again at run_at and not before.
            row.look_at = row.run_at + horizon
            self.gates.move(row, WAITING, JOB_GATE)
        else:
            self._overlapped(row, now)

    def end(self, row: Row, state: int, reason: str | None, now: int) -> None:
        """End a pending execution, pass its permits on, and let its job go on."""
        job, _ = self.jobs.current(row.job)
        if not row.fresh:
            self.session.run("drop_pending", row.key)
        self.session.run("end_pending", state, reason, now, now + kept_for(job, state), row.key)
        self.ended[job.project, state] += 1
        self.after_end(job, row.job, row.kind, state, now)
        self.gates.leave_key(row)
        if row.holds_job:
            self.gates.release_job(row.job)

    def after_end(self, job: Job, key: int, kind: int, state: int, now: int) -> None:
        """What the end of a fire does to its job's cursor."""
        if kind != FIRE:
            return
        limit = job.trigger.max_runs
        if job.trigger.follows_finish:
            self.session.run("count_from_end", now, key)
            self.session.run("nudge", now, key, limit, limit)
        if state == SKIPPED:
            self.give_back(job, key, 1, now)

    def give_back(self, job: Job, key: int, runs: int, now: int) -> None:
        """Executions that did not come to be do not count: the job may fire that often again."""
        limit = job.trigger.max_runs
        if limit is not None and runs:
            self.session.run("give_runs_back", runs, key)
            self.session.run("nudge", now, key, limit, limit)

    def hold(self, row: Row) -> None:
        """Keep it waiting until its job is resumed; its place in the job's gate stays its own."""
        row.run_at = row.look_at = NEVER
        self.session.run("hold_execution", NEVER, row.key)
        self.wait(row)

    def wait(self, row: Row, state: int = WAITING) -> None:
        """Take it out of the queue; its concurrency permit goes to the next."""
        before, row.holds_key = copy(row), 0
        self.gates.move(row, state)
        self.gates.leave_key(before)

    def restamp(self, row: Row, job: Job) -> None:
        """Let the next attempt run by the definition in force; its gate stays the one it has."""
        if row.gate is not None and job.concurrency is not None:
            own = from_json(self.session.value("payload", row.key))
            if job.concurrency.gate(job.project, job.payload if own is None else own) == row.gate:
                row.gate_limit = job.concurrency.limit
        row.queue, row.ability = job.queue, job.ability
        row.rank = rank(row.run_at, job.priority)
        lane = row.queue, row.ability
        self.session.run("restamp_execution", job.version, *lane, row.gate_limit, row.key)
        self.gates.move(row, row.state, row.waits)

    def cancel(self, key: int, now: int, why: str | None = None) -> None:
        """End what is pending; ask the worker of what is running."""
        row = self.gates.load(key)
        if row is not None:
            self.end(row, CANCELLED, why or "cancelled", now)
        elif self.session.run("ask_running", key).rowcount and why is not None:
            self.session.run("set_reason", why, key)

    def _overlapped(self, row: Row, now: int) -> None:
        """Its instant has come and its job's gate is busy."""
        if row.overlap == SKIP:
            self.end(row, SKIPPED, Reason.OVERLAP, now)
            return
        replaced = row.overlap in {QUEUE_ONE, CANCEL_RUNNING}
        others = self.gates.blocked(row.job) if replaced else []
        self.gates.move(row, BLOCKED, JOB_GATE)
        for other in others:
            self.end(other, SKIPPED, Reason.OVERLAP, now)
        if row.overlap == CANCEL_RUNNING:
            self.cancel(self.session.value("holder", row.job), now, BY_NEWER_FIRE)


def kept_for(job: Job, state: int) -> int:
    """Milliseconds that an ended execution is kept by its job's retention."""
    return job.retention.dead if state == DEAD else job.retention.age
