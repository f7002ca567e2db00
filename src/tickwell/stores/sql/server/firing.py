"""Firing: lock what is due, plan it, and write it, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.domain.job import Job
from tickwell.domain.planning import Plan
from tickwell.ports.records import Fired
from tickwell.ports.store import PlanMaker
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import cursor_from_row, moved_columns
from tickwell.stores.sql.placing import Batch
from tickwell.stores.sql.server.base import D, Part
from tickwell.stores.sql.server.flow import Flow
from tickwell.stores.sql.server.jobs import definitions
from tickwell.stores.sql.server.pieces import in_pieces
from tickwell.stores.sql.server.recording import IdTaken, Recorder, prune_at
from tickwell.stores.sql.server.rows import Head
from tickwell.stores.sql.server.session import Session
from tickwell.stores.sql.server.skipping import insert_skips, new_skips

#: Executions that are recorded one by one in a transaction, at 1 to 3 ms each: until it ends, every
#: other call that needs one of their gates waits. 500 took 1.5 s on a busy machine.
SLOWLY = 50

#: A job, what it plans, and its executions on their way into the store.
_Planned = tuple[Job, Plan, Batch[str]]


class SqlFiring(Part[D]):
    """Plans jobs that are due."""

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, in_turn: bool = False
    ) -> Fired:
        async def fire(*, careful: bool) -> Fired:
            return await self.database.write(
                lambda session: Firing(session, self.cache, now, horizon).fire(
                    limit, plan, careful=careful, in_turn=in_turn
                )
            )

        due = now + horizon, self.cache.unreadable.keys(now, planning=True)
        if not await self.database.single(lambda session: session.row("is_due", *due)):
            return Fired()
        try:
            fired = await fire(careful=False)
        except IdTaken:
            fired = await fire(careful=True)
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

    async def fire(self, limit: int, plan: PlanMaker, *, careful: bool, in_turn: bool) -> Fired:
        """Plan and write what is due; cursors that somebody else holds are left to him."""
        rows, more = await (self._due_in_turn(limit) if in_turn else self._due(limit))
        if not rows:
            return Fired()
        wanted = [(row[0], row[1]) for row in rows]
        jobs = await definitions(self.session, self.cache, wanted, self.now)
        planned = list[_Planned]()
        async for piece in in_pieces(rows):
            planned += self._plan(piece, jobs, plan)
        batches = [batch for _, _, batch in planned]
        await self.recorder.quickly(batches, careful=careful)
        planned, left = _first_slow(planned)
        more = more or left or any(made.more for _, made, _ in planned)
        moved = list[tuple[Any, ...]]()
        async for some in in_pieces(planned):
            moved += [self._moved(*one) for one in some]
        await self.session.many("move_cursor", moved)
        fired = Fired(jobs=len(planned), more=more)
        await self._slowly(planned, fired)
        await self._skip(planned, fired)
        await self.flow.close()
        return fired

    async def _due(self, limit: int) -> tuple[list[Any], bool]:
        rows = await self.session.rows("due", *self._asked, limit)
        return rows, len(rows) == limit

    async def _due_in_turn(self, limit: int) -> tuple[list[Any], bool]:
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

    def _plan(self, rows: Sequence[Any], jobs: dict[str, Job], plan: PlanMaker) -> list[_Planned]:
        planned = []
        for row in rows:
            job, holder = jobs.get(row[0]), row[10]
            if job is None:
                continue
            self.flow.locks.heads[job.id] = Head(row[1], row[2], row[6], holder)
            try:
                made = plan(job, cursor_from_row(tuple(row[2:10])))
            except Exception as error:  # noqa: BLE001 - the other jobs are fired all the same
                self.cache.unreadable.add(job.id, job.id, error, self.now, planning=True)
                continue
            planned.append((job, made, Batch(job.id, holder, made.executions)))
        return planned

    def _moved(self, job: Job, made: Plan, batch: Batch[str]) -> tuple[Any, ...]:
        made_now = 0 if batch.slow else len(batch.executions) - batch.armed
        self.flow.locks.heads[job.id].holder = batch.holder
        moved = moved_columns(made.cursor)
        return *moved, batch.holder, made_now, prune_at(job, self.now), job.id

    async def _slowly(self, planned: list[_Planned], fired: Fired) -> None:
        """What passes gates, is on record already, or is released: one by one, in order."""
        slow = [batch for _, _, batch in planned if batch.slow]
        if slow:
            await self.flow.locks.jobs_with_gates(
                [batch.job for batch in slow],
                (new.gate for batch in slow for new in batch.executions),
            )
        for job, made, batch in planned:
            recorded = len(made.executions)
            if batch.slow:
                recorded = await self.recorder.slowly(batch)
                await self.flow.give_back(job, len(made.executions) - recorded, self.now)
            if made.release_at is not None:
                await self.flow.release(job, max(self.now, made.release_at))
            fired.executions += recorded

    async def _skip(self, planned: list[_Planned], fired: Fired) -> None:
        for job, made, _ in planned:
            if made.skips:
                noted = await new_skips(self.session, job, made.skips)
                await insert_skips(self.session, job, noted)
                fired.skip(noted)


def _first_slow(planned: list[_Planned]) -> tuple[list[_Planned], bool]:
    """Without the slow jobs that are left to the next transaction, and whether there are any.

    They are due as before; the first is taken however many executions it has.
    """
    taken, count = list[_Planned](), 0
    for one in planned:
        batch = one[2]
        if not batch.slow:
            taken.append(one)
        elif count == 0 or count + len(batch.executions) <= SLOWLY:
            taken.append(one)
            count += max(len(batch.executions), 1)
        else:
            count = SLOWLY  # nor any later one: before a gate their order matters
    return taken, len(taken) < len(planned)
