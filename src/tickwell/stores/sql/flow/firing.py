"""Firing: lock what is due, plan it, and write it, in one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.domain.job import Job
from tickwell.domain.planning import Plan
from tickwell.ports.records import Fired
from tickwell.ports.store import PlanMaker
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.definitions import definitions
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.flow.initial_state import Batch
from tickwell.stores.sql.flow.pieces import in_pieces
from tickwell.stores.sql.flow.recording import IdTaken, Recorder, insert_skips, new_skips, prune_at
from tickwell.stores.sql.parts import D, Part
from tickwell.stores.sql.rows.codec import cursor_from_row, moved_columns
from tickwell.stores.sql.rows.pending import Head
from tickwell.stores.sql.session import Session

#: Executions that are recorded one by one in a transaction, at 1 to 3 ms each: until it ends, every
#: other call that needs one of their gates waits. 500 took 1.5 s on a busy machine.
SLOWLY = 50


@dataclass(slots=True)
class Planned:
    """A job as it was read, and the plan made from that."""

    #: The columns of `due`.
    row: Any
    job: Job
    plan: Plan

    def batch(self) -> Batch[str]:
        """Its executions on their way into the store."""
        return Batch(self.job.id, self.row[10], self.plan.executions)


#: A plan, and its executions on their way into the store.
_Recorded = tuple[Planned, Batch[str]]


class SqlFiring(Part[D]):
    """Plans jobs that are due."""

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired:
        due = now + horizon, self.cache.unreadable.keys(now, planning=True)
        if not await self.database.read_one(lambda session: session.row("is_due", *due)):
            return Fired()
        return await self.write(
            lambda session, careful: Firing(session, self.cache, now, horizon).fire(
                limit, plan, careful=careful, round_robin=round_robin
            )
        )

    async def write(self, fire: Callable[[Session, bool], Awaitable[Fired]]) -> Fired:
        """Fire in a transaction; look at ids first only if one turns out to be taken."""
        try:
            fired = await self.database.write(lambda session: fire(session, False))  # noqa: FBT003
        except IdTaken:
            fired = await self.database.write(lambda session: fire(session, True))  # noqa: FBT003
        if fired.executions:
            self.context.ring()
        return fired


class Firing:
    """One call of `fire_due`, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache, now: int, horizon: int) -> None:
        self.session = session
        self.cache = cache
        self.now = now
        self.horizon = horizon
        self.flow = Flow(session, cache)
        self.recorder = Recorder(self.flow, now, horizon)
        self.slow_limit = SLOWLY

    async def fire(self, limit: int, plan: PlanMaker, *, careful: bool, round_robin: bool) -> Fired:
        """Plan and write what is due, except cursors that another process holds."""
        planned, more = await self.plan(limit, plan, round_robin=round_robin)
        return await self.record(planned, more=more, careful=careful)

    async def plan(
        self, limit: int, plan: PlanMaker, *, round_robin: bool
    ) -> tuple[list[Planned], bool]:
        """Plan what is due; whether more is."""
        rows, more = await (self._due_round_robin(limit) if round_robin else self._due(limit))
        wanted = [(row[0], row[1]) for row in rows]
        jobs = await definitions(self.session, self.cache, wanted, self.now)
        planned = list[Planned]()
        async for piece in in_pieces(rows):
            planned += self._plan(piece, jobs, plan)
        return planned, more or any(one.plan.more for one in planned)

    async def record(self, plans: Sequence[Planned], *, more: bool, careful: bool) -> Fired:
        """Write plans whose cursors are as they were read, and stay so."""
        planned = [(one, one.batch()) for one in plans]
        await self.recorder.quickly([batch for _, batch in planned], careful=careful)
        planned, left = self._first_slow(planned)
        moved = list[tuple[Any, ...]]()
        async for some in in_pieces(planned):
            moved += [self._moved(*one) for one in some]
        await self.session.many("move_cursor", moved)
        fired = Fired(jobs=len(planned), more=more or left)
        await self._slowly(planned, fired)
        await self._skip(planned, fired)
        await self.flow.close()
        fired.ended = self.flow.ended_pending
        return fired

    async def _due(self, limit: int) -> tuple[list[Any], bool]:
        rows = await self.session.rows("due", *self._asked, limit)
        return rows, len(rows) == limit

    async def _due_round_robin(self, limit: int) -> tuple[list[Any], bool]:
        """Of each project its part, and whether some project had all of it."""
        projects = await self.session.rows("due_projects", self.now + self.horizon, limit)
        part = limit // max(len(projects), 1)
        parts = [
            await self.session.rows("due_of_project", *self._asked, part, project)
            for (project,) in projects
        ]
        return [row for rows in parts for row in rows], any(len(rows) == part for rows in parts)

    @property
    def _asked(self) -> tuple[int, list[str]]:
        return self.now + self.horizon, self.cache.unreadable.keys(self.now, planning=True)

    def _plan(self, rows: Sequence[Any], jobs: dict[str, Job], plan: PlanMaker) -> list[Planned]:
        planned = []
        for row in rows:
            job = jobs.get(row[0])
            if job is None:
                continue
            try:
                made = plan(job, cursor_from_row(tuple(row[2:10])))
            except Exception as error:  # noqa: BLE001 - the other jobs are fired all the same
                self.cache.unreadable.add(job.id, job.id, error, self.now, planning=True)
                continue
            planned.append(Planned(row, job, made))
        return planned

    def _moved(self, one: Planned, batch: Batch[str]) -> tuple[Any, ...]:
        job = one.job
        made_now = 0 if batch.slow else len(batch.executions) - batch.armed
        if batch.slow or one.plan.release_at is not None:
            row = one.row
            self.flow.locks.heads[job.id] = Head(row[1], row[2], row[6], batch.holder)
        moved = moved_columns(one.plan.cursor)
        return *moved, batch.holder, made_now, prune_at(job, self.now), job.id

    async def _slowly(self, planned: list[_Recorded], fired: Fired) -> None:
        """What passes gates, is on record already, or is released: one by one, in order."""
        slow = [batch for _, batch in planned if batch.slow]
        if slow:
            await self.flow.locks.jobs_with_gates(
                [batch.job for batch in slow],
                (new.gate for batch in slow for new in batch.executions),
            )
        for one, batch in planned:
            made = one.plan
            recorded = len(made.executions)
            if batch.slow:
                recorded = await self.recorder.slowly(batch)
                await self.flow.give_back(one.job, len(made.executions) - recorded, self.now)
            if made.release_at is not None:
                await self.flow.release(one.job, max(self.now, made.release_at))
            fired.executions += recorded

    async def _skip(self, planned: list[_Recorded], fired: Fired) -> None:
        for one, _ in planned:
            if one.plan.skips:
                noted = await new_skips(self.session, one.job, one.plan.skips)
                await insert_skips(self.session, one.job, noted)
                fired.skip(noted)

    def _first_slow(self, planned: list[_Recorded]) -> tuple[list[_Recorded], bool]:
        """Without the slow jobs that are left to the next transaction, and whether there are any.

        They are due as before; the first is taken however many executions it has.
        """
        taken, count = list[_Recorded](), 0
        for one in planned:
            batch = one[1]
            if not batch.slow:
                taken.append(one)
            elif count == 0 or count + len(batch.executions) <= self.slow_limit:
                taken.append(one)
                count += max(len(batch.executions), 1)
            else:
                count = self.slow_limit  # nor any later one: before a gate their order matters
        return taken, len(taken) < len(planned)
