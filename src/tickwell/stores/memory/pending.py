"""What a change of a job does to those of its executions that have not started."""

from __future__ import annotations

from tickwell.clock import NEVER
from tickwell.domain.change import Change, Pending
from tickwell.domain.execution import PENDING, Execution, Kind, State
from tickwell.domain.job import Job, rank
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row


class PendingExecutions:
    """The executions of one job, as an edit, a pause, a resume or a deletion finds them."""

    def __init__(self, flow: Flow, job: Job) -> None:
        self.flow = flow
        self.job = job
        ids = flow.tables.by_job.get(job.id, ())
        self.rows = [flow.tables.rows[id] for id in sorted(ids)]

    def change(self, made: Change, now: int) -> tuple[int, int]:
        """Carry out a change; how many were withdrawn, how many are asked to give up."""
        pending = made.pending
        if pending is Pending.RELEASE:
            self.release(now)
        if pending in {Pending.KEEP, Pending.RELEASE}:
            return 0, 0
        affected = [row for row in self.rows if row.execution.state in PENDING]
        withdrawn = [row for row in affected if _is_taken_back(row.execution, made, now)]
        remaining = [row for row in affected if row not in withdrawn]
        for row in withdrawn:
            # None of them may inherit the permit of another that ends in this same step.
            self.flow.tables.move(row, State.WAITING)
        for row in remaining:
            self._keep(row, pending, now)
        for row in withdrawn:
            self.flow.end(row, State.SKIPPED, made.reason, now)
        for gate in sorted({row.gate for row in affected if row.gate is not None}):
            self.flow.let_in(
                gate, now
            )  # a limit may have been raised, or the first have been withdrawn
        return len(withdrawn), self._call_off(made, now)

    def release(self, at: int) -> None:
        """Let what was held go on from this instant."""
        for row in self.rows:
            execution = row.execution
            if execution.state is State.WAITING and execution.run_at == NEVER:
                execution.run_at = row.look_at = max(at, execution.fire_time)
                row.rank = rank(execution.run_at, self.job.priority)
                self.flow.tables.move(row, State.WAITING)

    def _keep(self, row: Row, pending: Pending, now: int) -> None:
        if pending is Pending.RESTAMP:
            self.flow.restamp(row, self.job)
        elif pending is Pending.END:
            self.flow.end(row, State.CANCELLED, "job deleted", now)
        elif pending is Pending.HOLD:
            self.flow.hold(row, now)

    def _call_off(self, made: Change, now: int) -> int:
        """Ask for what is claimed ahead of its instant, as far as it would have been taken back.

        What would have been kept or held starts within the lead, which is soon enough.
        """
        if made.pending is Pending.RECALL:
            return 0
        running = (row for row in self.rows if row.execution.state is State.RUNNING)
        asked = 0
        for row in (row for row in running if row.execution.run_at > now):
            row.called_off = _is_taken_back(row.execution, made, now)
            if row.called_off or made.pending is Pending.END:
                row.execution.cancel_requested = True
                asked += 1
        return asked


def _is_taken_back(execution: Execution, made: Change, now: int) -> bool:
    """A fire that was not tried before; by an edit only if the new definition answers for it."""
    if made.pending is Pending.RECALL:
        is_named = execution.kind is Kind.FIRE and execution.fire_time in made.recalled
        return is_named and execution.is_untried
    earlier = execution.attempt - (execution.state is State.RUNNING)
    if execution.kind is not Kind.FIRE or earlier > 0:
        return False
    return made.pending is not Pending.RESTAMP or execution.fire_time > now
