"""How executions move between states: recorded, admitted through the gates, ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tickwell.clock import NEVER
from tickwell.domain.change import Change
from tickwell.domain.coverage import uncovered
from tickwell.domain.execution import (
    BY_NEWER_FIRE,
    PENDING,
    TAKEN_BACK,
    Execution,
    Kind,
    NewExecution,
    RangeSkip,
    Reason,
    State,
)
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job, JobState, rank
from tickwell.domain.planning import Plan
from tickwell.domain.rate import is_rate, left_after, permit_from, with_returned
from tickwell.ports.records import Ended
from tickwell.stores.memory.tables import Row, Tables, Waits, own


class Flow:
    """State transitions that several operations use. Each is atomic in its event loop."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        #: Counts what ends, while an operation wants to know.
        self._ended: Ended | None = None

    @contextmanager
    def counting_ends(self) -> Iterator[Ended]:
        """Count what ends meanwhile."""
        ended: Ended = Counter()
        self._ended = ended
        try:
            yield ended
        finally:
            self._ended = None

    def record_skips(self, job: Job, skips: Sequence[RangeSkip]) -> list[RangeSkip]:
        """Record what the job passed over by this definition; what of it was new."""
        new = self.new_skips(job, skips)
        self.tables.skips.setdefault(job.id, []).extend(new)
        return new

    def new_skips(self, job: Job, skips: Sequence[RangeSkip]) -> list[RangeSkip]:
        """The skipped fire times of a job that no other range skip covers."""
        known = self.tables.skips.get(job.id, [])
        return [new for skip in skips for new in uncovered(job, skip, known)]

    def record_plan(self, job_id: str, plan: Plan | Change, now: int, horizon: int) -> int:
        """Record the runs of a plan, which its cursor counts already; how many were new."""
        recorded = 0
        for new in plan.executions:
            if self._is_new(new):
                self._record(new, now, horizon)
                recorded += 1
        self._give_back(job_id, len(plan.executions) - recorded, now)
        return recorded

    def record(self, new: NewExecution, now: int, horizon: int) -> None:
        """Record an execution that is not counted yet, unless its id is taken."""
        if not self._is_new(new):
            return
        entry = self.tables.jobs[new.job.id]
        if new.kind is Kind.FIRE and entry.job.trigger.max_runs is not None:
            cursor = replace(entry.cursor, runs=entry.cursor.runs + 1)
            self.tables.put_entry(Entry(entry.job, cursor))
        self._record(new, now, horizon)

    def _is_new(self, new: NewExecution) -> bool:
        """Whether its id is free, or that of a slot to be armed again: taken back or backfilled."""
        existing = self.tables.rows.get(new.id)
        if existing is None:
            return True
        if existing.execution.state is not State.SKIPPED:
            return False
        return new.backfill or existing.execution.reason in TAKEN_BACK

    def _record(self, new: NewExecution, now: int, horizon: int) -> None:
        existing = self.tables.rows.get(new.id)
        row = self._new_row(new, now)
        if existing is not None:
            _inherit(row.execution, existing.execution)
        self.tables.put_row(row)
        self.admit(row, now, horizon)

    def admit(self, row: Row, now: int, horizon: int) -> None:
        """Take a waiting execution as far as its instant and its gates allow."""
        run_at = row.execution.run_at
        if run_at > now + horizon:
            row.look_at = run_at
            self.tables.move(row, State.WAITING)
        elif self._take_job_permit(row):
            self._through_key_gate(row, now + horizon)
        elif run_at > now:
            # Its instant decides, so promotion looks again at run_at and not before.
            row.look_at = run_at + horizon
            self.tables.move(row, State.WAITING, Waits.JOB)
        else:
            self._overlapped(row, now)

    def replace(self, row: Row, new: NewExecution, now: int, horizon: int) -> None:
        """Let a pending execution be what a later request for the same run asks for."""
        execution = row.execution
        new = new.put_off(execution.created_at)
        before = execution.run_at, row.gate, row.limit, row.overlap
        stays = before == (new.run_at, new.gate, new.limit, new.overlap)
        execution.payload = own(new.payload)
        if stays:
            # It is due whatever comes: it keeps its permits, and its turn.
            self.tables.move(row, execution.state, row.waits)
            return
        self.leave(row, State.WAITING, now)
        self._release_job(row, now)
        execution.run_at, execution.reason = new.run_at, None
        row.gate, row.limit, row.overlap = new.gate, new.limit, new.overlap
        row.rank, row.expires_at = new.rank, _expires_at(new)
        self.tables.expire(row)
        self.admit(row, now, horizon)

    def end(self, row: Row, state: State, reason: str | None, now: int) -> None:
        """End an execution, pass its permits on, and let its job go on."""
        execution = row.execution
        if self._ended is not None:
            self._ended[state, execution.project, execution.queue] += 1
        execution.reason, execution.ended_at = reason, now
        execution.cancel_requested = row.called_off = False
        self.leave(row, state, now)
        self._go_on(execution, now)
        self._release_job(row, now)

    def leave(self, row: Row, state: State, now: int) -> None:
        """Take it out of its key's gate or the queue for it; the next ones may enter."""
        was_there = row.holds_key or row.waits is Waits.KEY
        self.tables.move(row, state)
        if was_there and row.gate is not None:
            self.give_way(row, row.gate, now)

    def give_way(self, row: Row, gate: str, now: int) -> None:
        """Give the permit back, if it has one; the best of those before the gate get what is free.

        Who stands first may be in the way of others without a permit: each brings its own limit.
        """
        if row.holds_key and is_rate(gate):
            free = self.tables.key_free.get(gate, [])
            self.tables.key_free[gate] = with_returned(free, row.permit_from, now)
        row.holds_key = False
        self.tables.key_gate.get(gate, set()).discard(row.execution.id)
        self.let_in(gate, now)
        self.tables.forget_gate(gate)

    def let_in(self, gate: str, until: int) -> None:
        """Let the best of those before a gate through, as many as there is room for by then.

        More than one only where limits differ, or with time: each execution brings its own limit.
        """
        while following := self._best(self.tables.before_key.get(gate, set())):
            held, free = len(self.tables.key_gate.get(gate, ())), self.tables.key_free.get(gate, [])
            at = permit_from(held, free, following.limit)
            if at is None:
                return
            if at > until:
                # The best execution at that instant gets it, so only one of them is looked at.
                following.look_at = at
                self.tables.move(following, State.WAITING, Waits.KEY)
                return
            self._enter(following, at)

    def withdraw(self, row: Row, now: int) -> None:
        """Take a fire back; the planner may arm it again."""
        self.end(row, State.SKIPPED, Reason.WITHDRAWN, now)

    def hold(self, row: Row, now: int) -> None:
        """Hold it until its job is resumed; it keeps its permit of the job's gate."""
        self.leave(row, State.WAITING, now)
        row.execution.run_at = row.look_at = NEVER
        row.execution.reason = None

    def restamp(self, row: Row, job: Job) -> None:
        """Let the next attempt run by the definition in force; its gate stays the one it has."""
        execution = row.execution
        gate, limit = job.gate_of(execution.payload)
        if gate is not None and gate == row.gate:
            row.limit = limit
        execution.job_version, execution.queue = job.version, job.queue
        execution.ability = job.ability
        row.rank = rank(execution.run_at, job.priority)
        self.tables.move(row, execution.state, row.waits)

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
            ability=job.ability,
            created_at=now,
            payload=own(new.payload),
            key=new.key,
            revived_from=new.revived_from,
        )
        return Row(
            execution=execution,
            rank=new.rank,
            overlap=new.overlap,
            gate=new.gate,
            limit=new.limit,
            unique=None if new.unique is None else new.unique.name,
            look_at=new.run_at,
            expires_at=_expires_at(new),
        )

    def _take_job_permit(self, row: Row) -> bool:
        if row.overlap is Overlap.ALLOW or row.holds_job:
            return True
        if row.execution.job_id in self.tables.job_gate:
            return False
        self.tables.job_gate[row.execution.job_id] = row.execution.id
        row.holds_job = True
        return True

    def _through_key_gate(self, row: Row, until: int) -> None:
        if row.gate is None or row.holds_key:
            self.tables.move(row, State.QUEUED)
        elif is_rate(row.gate):
            # Permits come free with time, so that better ones may stand before it.
            row.execution.reason = Reason.RATE
            self.tables.move(row, State.BLOCKED, Waits.KEY)
            self.let_in(row.gate, until)
        elif len(self.tables.key_gate.get(row.gate, ())) >= row.limit:
            self.tables.move(row, State.BLOCKED, Waits.KEY)
        else:
            self._enter(row, 0)

    def _enter(self, row: Row, at: int) -> None:
        """Give it a permit of its key's gate that can be had from an instant on."""
        gate, execution = row.gate or "", row.execution
        self.tables.key_gate.setdefault(gate, set()).add(execution.id)
        row.holds_key = True
        if is_rate(gate):
            self.tables.key_free[gate] = left_after(self.tables.key_free.get(gate, []), at)
            execution.run_at = row.permit_from = max(execution.run_at, at)
            execution.reason = None
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
                # A revived execution waits instead of being skipped.
                if (
                    other is not row
                    and other.execution.state is State.BLOCKED
                    and other.overlap is not Overlap.QUEUE_ALL
                ):
                    self.end(other, State.SKIPPED, Reason.OVERLAP, now)
        if row.overlap is Overlap.CANCEL_RUNNING:
            holder = self.tables.rows[self.tables.job_gate[row.execution.job_id]]
            self.cancel(holder, now, BY_NEWER_FIRE)

    def cancel(self, row: Row, now: int, why: str | None = None) -> None:
        """End what is pending; ask the worker of what is running."""
        if row.execution.state is State.RUNNING:
            row.execution.cancel_requested, row.called_off = True, False
            row.execution.reason = why or row.execution.reason
        elif row.execution.state in PENDING:
            self.end(row, State.CANCELLED, why or "cancelled", now)

    def _release_job(self, row: Row, now: int) -> None:
        if not row.holds_job:
            return
        row.holds_job = False
        del self.tables.job_gate[row.execution.job_id]
        self._pass_on(row.execution.job_id, now)

    def _pass_on(self, job_id: str, now: int) -> None:
        """Let the best of those before a job's own gate through, which is free."""
        following = self._best(self.tables.before_job.get(job_id, set()))
        if following is not None and self._take_job_permit(following):
            self._through_key_gate(following, now)

    def _best(self, ids: set[str]) -> Row | None:
        rows = (self.tables.rows[id] for id in ids)
        return min(rows, key=lambda row: (row.rank, row.execution.id), default=None)

    def _go_on(self, execution: Execution, now: int) -> None:
        """What the end of a fire does to its job's cursor."""
        if execution.kind is not Kind.FIRE:
            return
        entry = self.tables.jobs[execution.job_id]
        if entry.job.trigger.follows_finish:
            cursor = replace(entry.cursor, after=max(entry.cursor.after, now))
            self._nudge(Entry(entry.job, cursor), now)
        if execution.state is State.SKIPPED:
            self._give_back(execution.job_id, 1, now)

    def _give_back(self, job_id: str, runs: int, now: int) -> None:
        """Executions that did not come to be do not count: the job may fire that often again."""
        entry = self.tables.jobs[job_id]
        if entry.job.trigger.max_runs is not None and runs:
            self._nudge(Entry(entry.job, replace(entry.cursor, runs=entry.cursor.runs - runs)), now)

    def _nudge(self, entry: Entry, now: int) -> None:
        """Store a moved cursor; unless the job is paused or deleted, let the planner look at it."""
        cursor, limit = entry.cursor, entry.job.trigger.max_runs
        rests = cursor.state not in {JobState.ACTIVE, JobState.FINISHED}
        if not rests and (limit is None or cursor.runs < limit):
            cursor = replace(cursor, state=JobState.ACTIVE, next_fire_time=now, nudged=True)
        self.tables.put_entry(Entry(entry.job, cursor))


def _expires_at(new: NewExecution) -> int | None:
    return None if new.job.expires is None else new.run_at + new.job.expires


def _inherit(execution: Execution, before: Execution) -> None:
    """A slot that is armed again goes on under its id: the attempt number never falls."""
    execution.created_at = before.created_at
    execution.attempt, execution.attempts = before.attempt, before.attempts
