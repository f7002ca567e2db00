"""How executions move between states: admission through the gates, ends, and what follows an end."""

from __future__ import annotations

from dataclasses import replace

from tickwell.clock import NEVER
from tickwell.domain.change import Pending
from tickwell.domain.execution import (
    PENDING,
    Execution,
    Kind,
    NewExecution,
    Reason,
    State,
)
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, JobState, rank
from tickwell.stores.memory.tables import Row, Tables, Waits


class Flow:
    """The moves that several operations share. Each is one step: nothing else runs in between."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def record(self, new: NewExecution, now: int, horizon: int) -> bool:
        """Record an execution unless its id is taken; arm a withdrawn or backfilled one again."""
        existing = self.tables.rows.get(new.id)
        if existing is not None and not _may_rearm(existing.execution, new):
            return False
        row = self._new_row(new, existing.execution.created_at if existing else now)
        self.tables.put_row(row)
        self.admit(row, now, horizon)
        return True

    def admit(self, row: Row, now: int, horizon: int) -> None:
        """Take a waiting execution as far as its instant and its gates allow."""
        run_at = row.execution.run_at
        if run_at > now + horizon:
            row.look_at = run_at
            self.tables.move(row, State.WAITING)
        elif self._take_job_permit(row):
            self._through_key_gate(row)
        elif run_at > now:
            # Its instant decides, so promotion looks again at run_at and not before.
            row.look_at = run_at + horizon
            self.tables.move(row, State.WAITING, Waits.JOB)
        else:
            self._overlapped(row, now)

    def end(self, row: Row, state: State, reason: str | None, now: int) -> None:
        """End an execution, pass its permits on, and let its job go on."""
        execution = row.execution
        execution.reason, execution.ended_at = reason, now
        execution.cancel_requested = False
        self.tables.move(row, state)
        self._go_on(execution, now)
        self.release_key(row)
        self._release_job(row)

    def release_key(self, row: Row) -> None:
        """Give the concurrency permit back; the best of those before the gate gets it."""
        if not row.holds_key or row.gate is None:
            return
        row.holds_key = False
        holders = self.tables.key_gate[row.gate]
        holders.discard(row.execution.id)
        following = self._best(self.tables.before_key.get(row.gate, set()))
        if following is not None and len(holders) < following.limit:
            self._through_key_gate(following)

    def take_back(self, job_id: str, pending: Pending, now: int, version: int) -> tuple[int, int]:
        """Carry out a change on what is pending; how many were withdrawn, how many cancelling."""
        rows = [self.tables.rows[id] for id in sorted(self.tables.by_job.get(job_id, ()))]
        if pending is Pending.RELEASE:
            self._release_held(rows, now)
        if pending in {Pending.KEEP, Pending.RELEASE}:
            return 0, 0
        affected = [row for row in rows if row.execution.state in PENDING]
        withdrawn = [row for row in affected if _is_withdrawn(row.execution, pending, now)]
        kept = [row for row in affected if row not in withdrawn]
        for row in withdrawn:
            # None of them may inherit the permit of another that ends in this same step.
            self.tables.move(row, State.WAITING)
        for row in kept:
            self._keep(row, pending, now, version)
        for row in withdrawn:
            self.end(row, State.SKIPPED, Reason.WITHDRAWN, now)
        return len(withdrawn), self._cancel_ahead(rows, now)

    def _new_row(self, new: NewExecution, now: int) -> Row:
        job = new.job
        execution = Execution(
            id=new.id,
            project=job.project,
            job_id=job.id,
            job_version=job.version,
            kind=new.kind,
            state=State.WAITING,
            fire_time=new.fire_time,
            run_at=new.run_at,
            queue=job.queue,
            ability=job.target.ability,
            created_at=now,
            payload=new.payload,
            key=new.key,
            revived_from=new.revived_from,
        )
        return Row(
            execution=execution,
            rank=new.rank,
            overlap=new.overlap,
            gate=new.gate,
            limit=new.limit,
            look_at=new.run_at,
            expires_at=None if job.ttl is None else new.run_at + job.ttl,
        )

    def _take_job_permit(self, row: Row) -> bool:
        if row.overlap is Overlap.ALLOW or row.holds_job:
            return True
        if row.execution.job_id in self.tables.job_gate:
            return False
        self.tables.job_gate[row.execution.job_id] = row.execution.id
        row.holds_job = True
        return True

    def _through_key_gate(self, row: Row) -> None:
        if row.gate is not None and not row.holds_key:
            holders = self.tables.key_gate.setdefault(row.gate, set())
            if len(holders) >= row.limit:
                self.tables.move(row, State.BLOCKED, Waits.KEY)
                return
            holders.add(row.execution.id)
            row.holds_key = True
        self.tables.move(row, State.QUEUED)

    def _overlapped(self, row: Row, now: int) -> None:
        """Its instant has come and its job's gate is busy."""
        if row.overlap is Overlap.SKIP:
            self.end(row, State.SKIPPED, Reason.OVERLAP, now)
            return
        before = sorted(self.tables.before_job.get(row.execution.job_id, ()))
        self.tables.move(row, State.BLOCKED, Waits.JOB)
        if row.overlap in {Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING}:
            for other in (self.tables.rows[id] for id in before):
                if other is not row and other.execution.state is State.BLOCKED:
                    self.end(other, State.SKIPPED, Reason.OVERLAP, now)
        if row.overlap is Overlap.CANCEL_RUNNING:
            self.cancel(self.tables.rows[self.tables.job_gate[row.execution.job_id]], now)

    def cancel(self, row: Row, now: int) -> None:
        """End what is pending; ask the worker of what is running."""
        if row.execution.state is State.RUNNING:
            row.execution.cancel_requested = True
        elif row.execution.state in PENDING:
            self.end(row, State.CANCELLED, "cancelled", now)

    def _release_job(self, row: Row) -> None:
        if not row.holds_job:
            return
        row.holds_job = False
        job_id = row.execution.job_id
        del self.tables.job_gate[job_id]
        following = self._best(self.tables.before_job.get(job_id, set()))
        if following is not None and self._take_job_permit(following):
            self._through_key_gate(following)

    def _best(self, ids: set[str]) -> Row | None:
        rows = (self.tables.rows[id] for id in ids)
        return min(rows, key=lambda row: (row.rank, row.execution.id), default=None)

    def _go_on(self, execution: Execution, now: int) -> None:
        """What the end of a fire does to its job's cursor."""
        entry = self.tables.jobs[execution.job_id]
        cursor, trigger = entry.cursor, entry.job.trigger
        if execution.kind is not Kind.FIRE:
            return
        if trigger.follows_finish:
            cursor = replace(cursor, after=max(cursor.after, now))
        elif trigger.max_runs is None or execution.state is not State.SKIPPED:
            return
        else:
            cursor = replace(cursor, runs=cursor.runs - 1)
        if cursor.state in {JobState.ACTIVE, JobState.FINISHED}:
            cursor = replace(cursor, state=JobState.ACTIVE, next_fire_time=now, nudged=True)
        self.tables.put_entry(Entry(entry.job, cursor))

    def _keep(self, row: Row, pending: Pending, now: int, version: int) -> None:
        execution = row.execution
        if pending is Pending.RESTAMP:
            execution.job_version = version
        elif pending is Pending.END:
            self.end(row, State.CANCELLED, "job deleted", now)
        else:
            execution.run_at = row.look_at = NEVER
            self.tables.move(row, State.WAITING)
            self.release_key(row)

    def _release_held(self, rows: list[Row], now: int) -> None:
        for row in rows:
            execution = row.execution
            if execution.state is State.WAITING and execution.run_at == NEVER:
                job = self.tables.jobs[execution.job_id].job
                execution.run_at = row.look_at = max(now, execution.fire_time)
                row.rank = rank(execution.run_at, job.priority)
                self.tables.move(row, State.WAITING)

    def _cancel_ahead(self, rows: list[Row], now: int) -> int:
        ahead = [
            row.execution
            for row in rows
            if row.execution.state is State.RUNNING
            and row.execution.kind is Kind.FIRE
            and row.execution.run_at > now
        ]
        for execution in ahead:
            execution.cancel_requested = True
        return len(ahead)


def _is_withdrawn(execution: Execution, pending: Pending, now: int) -> bool:
    if execution.kind is not Kind.FIRE or execution.attempt > 0:
        return False
    return pending is not Pending.RESTAMP or execution.fire_time > now


def _may_rearm(execution: Execution, new: NewExecution) -> bool:
    if execution.state is not State.SKIPPED:
        return False
    return new.backfill or execution.reason == Reason.WITHDRAWN
