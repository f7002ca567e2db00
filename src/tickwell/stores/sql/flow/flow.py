"""How executions move between states, one at a time: admission, ends, and what follows an end.

The memory store's flow in statements. Batches take a shorter way where no gate, no count and no
change of the job is involved; everything else goes through here, in order, with its job locked.
"""

from __future__ import annotations

from collections import Counter
from copy import copy

from tickwell.clock import NEVER
from tickwell.domain.execution import BY_NEWER_FIRE, Reason
from tickwell.domain.job import Job, rank
from tickwell.ports.records import Ended
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.definitions import Jobs
from tickwell.stores.sql.flow.gates import Gates
from tickwell.stores.sql.flow.locks import Locks
from tickwell.stores.sql.rows.codec import (
    BLOCKED,
    CANCEL_RUNNING,
    CANCELLED,
    FIRE,
    JOB_GATE,
    QUEUE_ONE,
    SKIP,
    SKIPPED,
    STATES,
    WAITING,
    from_json,
)
from tickwell.stores.sql.rows.pending import Row
from tickwell.stores.sql.session import Session


class Flow:
    """The moves that several operations share, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache) -> None:
        self.session = session
        self.locks = Locks(session)
        self.gates = Gates(self.locks)
        self.jobs = Jobs(session, cache)
        #: Ended executions by project and state, to be written by `close`.
        self.ended: Counter[tuple[str, int]] = Counter()
        #: Those that ended before a worker had them, for the caller.
        self.ended_pending: Ended = Counter()

    async def close(self) -> None:
        """Write what was counted; the last step of every operation that ends something."""
        await self.locks.close()
        counted = [(*which, count) for which, count in sorted(self.ended.items()) if count]
        await self.session.many("count_ended", counted)
        self.ended.clear()

    async def job(self, id: str) -> Job:
        """The definition in force."""
        head = await self.locks.head(id)
        return await self.jobs.of(id, head.version)

    async def admit(self, row: Row, now: int, horizon: int) -> None:
        """Take a waiting execution as far as its instant and its gates allow."""
        if row.run_at > now + horizon:
            row.look_at = row.run_at
            await self.gates.move(row, WAITING)
        elif await self.gates.take_job(row):
            await self.gates.through_key(row, now + horizon)
        elif row.run_at > now:
            # Its instant decides, so promotion looks again at run_at and not before.
            row.look_at = row.run_at + horizon
            await self.gates.move(row, WAITING, JOB_GATE)
        else:
            await self._overlapped(row, now)

    async def end(self, row: Row, state: int, reason: str | None, now: int) -> None:
        """End a pending execution, pass its permits on, and let its job go on."""
        job = await self.job(row.job)
        await self.session.run("drop_pending", row.id)
        await self.session.run("end_pending", state, reason, now, row.id)
        self.ended[job.project, state] += 1
        self.ended_pending[STATES[state], job.project, row.queue] += 1
        await self.after_end(job, row.kind, state, now)
        await self.gates.leave_key(row, now)
        if row.holds_job:
            await self.gates.release_job(row.job, now)

    async def after_end(self, job: Job, kind: int, state: int, now: int) -> None:
        """What the end of a fire does to its job's cursor."""
        if kind != FIRE:
            return
        if job.trigger.follows_finish:
            await self.session.run("count_from_end", now, job.id)
            await self.session.run("nudge", job.id, now, job.trigger.max_runs)
        if state == SKIPPED:
            await self.give_back(job, 1, now)

    async def give_back(self, job: Job, runs: int, now: int) -> None:
        """Executions that did not come to be do not count: the job may fire that often again."""
        if job.trigger.max_runs is not None and runs:
            await self.session.run("give_runs_back", runs, job.id)
            await self.session.run("nudge", job.id, now, job.trigger.max_runs)

    async def hold(self, row: Row, now: int) -> None:
        """Keep it waiting until its job is resumed; its place in the job's gate stays its own."""
        before = copy(row)
        row.run_at = row.look_at = NEVER
        await self.session.run("hold_execution", NEVER, row.id)
        await self._wait(row, WAITING, before, now)

    async def release(self, job: Job, at: int) -> None:
        """Let what was held go on from this instant."""
        for (id,) in await self.session.rows("held", job.id, NEVER):
            row = await self.gates.load(id)
            if row is None:
                continue
            row.run_at = row.look_at = max(at, row.fire_time)
            row.rank = rank(row.run_at, job.priority)
            await self.session.run("set_run_at", row.run_at, id)
            await self.gates.move(row, WAITING)

    async def wait(self, row: Row, state: int, now: int) -> None:
        """Take it out of the queue; its permit of its key goes to the next."""
        await self._wait(row, state, copy(row), now)

    async def _wait(self, row: Row, state: int, before: Row, now: int) -> None:
        row.holds_key = False
        await self.gates.move(row, state)
        await self.gates.leave_key(before, now)

    async def restamp(self, row: Row, job: Job) -> None:
        """Let the next attempt run by the definition in force; its gate stays the one it has."""
        if row.gate is not None:
            own = from_json(await self.session.value("payload", row.id))
            gate, limit = job.gate_of(own)
            if gate == row.gate:
                row.gate_limit = limit
        row.queue, row.ability = job.queue, job.ability
        row.rank = rank(row.run_at, job.priority)
        lane = row.queue, row.ability
        await self.session.run("restamp_execution", job.version, *lane, row.gate_limit, row.id)
        await self.gates.move(row, row.state, row.waits)

    async def cancel(self, id: str, now: int, why: str | None = None) -> None:
        """End what is pending; ask the worker of what is running."""
        row = await self.gates.load(id)
        if row is not None:
            await self.end(row, CANCELLED, why or "cancelled", now)
        # Claimed meanwhile, or ended: then there is no worker to ask.
        elif await self.session.run("ask_running", id) and why is not None:
            await self.session.run("set_reason", why, id)

    async def _overlapped(self, row: Row, now: int) -> None:
        """Its instant has come and its job's gate is busy."""
        if row.overlap == SKIP:
            await self.end(row, SKIPPED, Reason.OVERLAP, now)
            return
        replaced = row.overlap in {QUEUE_ONE, CANCEL_RUNNING}
        others = await self.gates.blocked(row.job) if replaced else []
        await self.gates.move(row, BLOCKED, JOB_GATE)
        for other in others:
            await self.end(other, SKIPPED, Reason.OVERLAP, now)
        holder = (await self.locks.head(row.job)).holder
        if row.overlap == CANCEL_RUNNING and holder is not None:
            await self.cancel(holder, now, BY_NEWER_FIRE)
