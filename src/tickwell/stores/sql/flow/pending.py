"""What a change of a job does to those of its executions that have not started."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.change import Change, Pending
from tickwell.domain.job import Job
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.rows.codec import CANCELLED, FIRE, SKIPPED
from tickwell.stores.sql.rows.pending import Row


def is_taken_back(facts: Sequence[int], made: Change, now: int) -> bool:
    """A fire that was not tried before; by an edit only if the new definition answers for it.

    The facts: kind, fire time, how many attempts there were before, and of them how many were
    not given back at once.
    """
    kind, fire_time, earlier, tried = facts
    if made.pending is Pending.RECALL:
        return kind == FIRE and fire_time in made.recalled and not tried
    if kind != FIRE or earlier > 0:
        return False
    return made.pending is not Pending.RESTAMP or fire_time > now


class PendingExecutions:
    """The executions of one job, as an edit, a pause, a resume or a deletion finds them."""

    def __init__(self, flow: Flow, job: Job) -> None:
        self.flow = flow
        self.session = flow.session
        self.job = job

    async def change(self, made: Change, now: int) -> tuple[int, int]:
        """Carry out a change; how many were withdrawn, how many are asked to give up."""
        pending = made.pending
        if pending is Pending.RELEASE:
            await self.flow.release(self.job, now)
        if pending in {Pending.KEEP, Pending.RELEASE}:
            return 0, 0
        withdrawn: list[str] = []
        remaining: list[str] = []
        for id, *facts in await self.session.rows("pending_of_job", self.job.id):
            (withdrawn if is_taken_back(facts, made, now) else remaining).append(id)
        if withdrawn:
            # None of them may inherit the permit of another that ends in this same step.
            await self.session.run("take_out", withdrawn)
        # Loaded one by one: each may have got the permit of the one before.
        gates = set()
        for id in remaining:
            row = await self.flow.gates.load(id)
            if row is not None:
                gates.add(row.gate)
                await self._keep(row, pending, now)
        for id in withdrawn:
            row = await self.flow.gates.load(id)
            if row is not None:
                gates.add(row.gate)
                await self.flow.end(row, SKIPPED, made.reason, now)
        for gate in sorted(gate for gate in gates if gate is not None):
            # A limit may have been raised, or the first have been withdrawn.
            await self.flow.gates.let_in(gate, now)
        return len(withdrawn), await self._call_off(made, now)

    async def _keep(self, row: Row, pending: Pending, now: int) -> None:
        if pending is Pending.RESTAMP:
            await self.flow.restamp(row, self.job)
        elif pending is Pending.END:
            await self.flow.end(row, CANCELLED, "job deleted", now)
        elif pending is Pending.HOLD:
            await self.flow.hold(row, now)

    async def _call_off(self, made: Change, now: int) -> int:
        """Ask for what is claimed ahead of its instant, as far as it would have been taken back.

        What would have been kept or held starts within the lead, which is soon enough.
        """
        asked = 0
        if made.pending is Pending.RECALL:
            return asked
        for id, *facts in await self.session.rows("ahead_of_job", self.job.id, now):
            called_off = is_taken_back(facts, made, now)
            cancel = called_off or made.pending is Pending.END
            await self.session.run("call_off", called_off, cancel, id)
            asked += cancel
        return asked
