"""What people and housekeeping do to single executions: settle, cancel, revive."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tickwell.domain.execution import PENDING, State
from tickwell.domain.job import rank
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import DEAD, PARKED, STATE_CODE
from tickwell.stores.sql.server.flow import Flow
from tickwell.stores.sql.server.session import Session
from tickwell.stores.sql.text import clean, ids_among


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
                await self.flow.wait(row, target)
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
        await self.flow.close()
        return revived

    async def _revive(self, id: str, priority: int) -> None:
        await self.session.run("keep_attempts", [id])
        await self.session.run("revive", self.now, id)
        await self.session.run("queue_armed", id, rank(self.now, priority), None)
        row = await self.flow.gates.load(id)
        if row is not None:
            await self.flow.locks.gates([row.gate])
            await self.flow.admit(row, self.now, 0)
