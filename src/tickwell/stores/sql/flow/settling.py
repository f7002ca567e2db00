"""What people and housekeeping do to single executions: settle, cancel, revive, answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tickwell.clock import NEVER
from tickwell.domain.execution import PENDING, OutcomeKind, State
from tickwell.domain.job import rank
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.rows.codec import (
    DEAD,
    OUTCOME_CODE,
    PARKED,
    STATE_CODE,
    WAITING,
    clean,
    ids_among,
)
from tickwell.stores.sql.rows.pending import Row
from tickwell.stores.sql.session import Session


class Settling:
    """One call, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache, now: int) -> None:
        self.session = session
        self.flow = Flow(session, cache)
        self.now = now

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str
    ) -> list[str]:
        """Move what is in one of these states; which were moved."""
        # Only what is parked can be told to wait again: the rest would lose its place.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        codes = {STATE_CODE[state] for state in allowed.intersection(states)}
        asked, target = ids_among(ids), STATE_CODE[to]
        jobs = await self.session.rows("jobs_of_pending", asked)
        await self.flow.locks.jobs_with_gates([job for (job,) in jobs])
        # Chosen before any moves: one that ends may let another of them into the queue.
        found = await self.session.rows("lock_pending", sorted(asked))
        ready = {id for id, state in found if state in codes}
        moved = []
        for id in asked:
            row = await self.flow.gates.load(id) if id in ready else None
            if row is None:
                continue
            moved.append(id)
            if to in PENDING:
                why = clean(reason) if target == PARKED else None
                await self.session.run("set_reason", why, id)
                await self.flow.wait(row, target, self.now)
            else:
                await self.flow.end(row, target, clean(reason), self.now)
        await self.flow.close()
        return moved

    async def cancel(self, project: str, ids: Sequence[str]) -> list[str]:
        """Cancel what is pending, ask the worker of what is running; which were live."""
        asked = ids_among(ids)
        found = await self.session.rows("live_in_project", asked, clean(project))
        await self.flow.locks.jobs_with_gates({job for _, job in found})
        # Under the locks of their jobs; one that ended meanwhile is live no more.
        found = await self.session.rows("live_in_project", asked, clean(project))
        live = {id for id, _ in found}
        await self.session.rows("lock_running", sorted(live))
        ordered = [id for id in asked if id in live]
        for id in ordered:
            await self.flow.cancel(id, self.now)
        await self.flow.close()
        return ordered

    async def revive(self, project: str, ids: Sequence[str]) -> list[str]:
        """Let dead executions wait again; which were revived."""
        asked = ids_among(ids)
        found = await self.session.rows("dead_in_project", asked, clean(project))
        await self.flow.locks.jobs_with_gates({job for _, job in found})
        found = await self.session.rows("dead_in_project", asked, clean(project))
        dead = {id: job for id, job in found}  # noqa: C416 - rows are not always tuples
        revived = [id for id in asked if id in dead]
        for id in revived:
            await self._revive(id, (await self.flow.job(dead[id])).priority)
            self.flow.ended[project, DEAD] -= 1
        if revived:
            await self.session.run("note_revived", revived)
        await self.flow.close()
        return revived

    async def answer(self, project: str, id: str, name: str, value: str) -> bool:
        """Make a step final; if its execution waits for it, let it go on."""
        asked = ids_among([id])
        found = await self.session.rows("live_in_project", asked, clean(project))
        await self.flow.locks.jobs_with_gates([job for _, job in found])
        # Under the lock of its job no attempt of it ends.
        found = await self.session.rows("live_in_project", asked, clean(project))
        step = await self.session.row("open_step", id, clean(name)) if found else None
        if step is None:
            return False
        await self.session.run("end_step", self.now, value, id, clean(name))
        row = await self.flow.gates.load(id)
        # One that failed waits for its retry, and not for the answer.
        waits = (step[0], OUTCOME_CODE[OutcomeKind.SNOOZED])
        if row is not None and row.state == WAITING and (row.attempt, step[1]) == waits:
            await self._resume(row)
        await self.flow.close()
        return True

    async def _resume(self, row: Row) -> None:
        """Let it go on now, unless it is due already or held until its job is resumed."""
        if self.now < row.run_at < NEVER:
            row.run_at = row.look_at = self.now
            row.rank = rank(self.now, (await self.flow.job(row.job)).priority)
            await self.session.run("set_run_at", self.now, row.id)
            await self.flow.admit(row, self.now, 0)

    async def _revive(self, id: str, priority: int) -> None:
        await self.session.run("keep_attempts", [id])
        await self.session.run("revive", self.now, id)
        await self.session.run("queue_armed", id, rank(self.now, priority), None)
        row = await self.flow.gates.load(id)
        if row is not None:
            await self.flow.locks.gates([row.gate])
            await self.flow.admit(row, self.now, 0)
