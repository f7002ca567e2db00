"""Recording executions: in batches where nothing stands in the way, else one by one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from tickwell.domain.execution import Kind, NewExecution
from tickwell.domain.job import Job
from tickwell.stores.sql.codec import (
    KIND_CODE,
    NO_GATE,
    OVERLAP_CODE,
    SKIPPED,
    WAITING,
    to_json,
)
from tickwell.stores.sql.placing import Batch, Place, expires_at, may_arm, place
from tickwell.stores.sql.server.flow import Flow
from tickwell.stores.sql.text import clean


class IdTaken(Exception):
    """An id of the batch is on record: all is taken back, and looked at more closely."""


@dataclass(slots=True)
class Recording:
    """Rows to be written together."""

    now: int
    horizon: int
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def add(self, batch: Batch[str]) -> bool:
        """Take a batch in if all of it can be decided here; gates of others are not looked at."""
        ids = [new.id for new in batch.executions]
        places = place(batch, ids, self.now, self.horizon)
        if places is None:
            return False
        for new, found in zip(batch.executions, places, strict=True):
            self.rows.append(new_row(new, self.now, found))
            if found[0] == SKIPPED:
                self.skipped.append(new.job.project)
        return True


class Recorder:
    """Records executions inside a transaction that holds their jobs."""

    def __init__(self, flow: Flow, now: int, horizon: int) -> None:
        self.flow = flow
        self.session = flow.session
        self.now = now
        self.horizon = horizon

    async def quickly(self, batches: Collection[Batch[str]], *, careful: bool) -> None:
        """Write all that can be written together; the other batches are marked as slow.

        Ids are looked up before only after one was found taken, which is rare.
        """
        taken = await self._taken(batches) if careful else set()
        recording = Recording(self.now, self.horizon)
        for batch in batches:
            known = taken and not taken.isdisjoint(new.id for new in batch.executions)
            batch.holder = batch.held_by
            batch.slow = bool(known) or not recording.add(batch)
        [(inserted,)] = await self.session.many("insert_new", recording.rows) or [(0,)]
        if inserted != len(recording.rows):
            raise IdTaken
        for project in recording.skipped:
            self.flow.ended[project, SKIPPED] += 1

    async def slowly(self, batch: Batch[str]) -> int:
        """Record a batch one by one; how many were new."""
        return sum([await self.one(new) for new in batch.executions])

    async def one(self, new: NewExecution, *, counted: bool = True) -> bool:
        """Record an execution unless its id is taken; whether it was new."""
        found = await self.session.row("slot", new.id)
        if found is not None and not may_arm(new, found[0], found[1]):
            return False
        if not counted and new.kind is Kind.FIRE:
            await self._count_run(new.job.id)
        if found is None:
            await self._insert(new)
        else:
            await self._arm(new)
        pending = await self.flow.gates.load(new.id)
        if pending is not None:
            await self.flow.admit(pending, self.now, self.horizon)
        return True

    async def _count_run(self, job: str) -> None:
        if (await self.flow.job(job)).trigger.max_runs is not None:
            await self.session.run("count_run", job)

    async def _taken(self, batches: Collection[Batch[str]]) -> set[str]:
        """Ids that are on record, or that come twice."""
        ids = [new.id for batch in batches for new in batch.executions]
        twice = {id for id in ids if ids.count(id) > 1} if len(set(ids)) < len(ids) else set()
        return twice | {id for (id,) in await self.session.rows("existing", ids)}

    async def _insert(self, new: NewExecution) -> None:
        row = new_row(new, self.now, (WAITING, NO_GATE, new.run_at, False))
        await self.session.many("insert_new", [row])
        await self.session.run("count_one_made", new.job.id, prune_at(new.job, self.now))

    async def _arm(self, new: NewExecution) -> None:
        await self.session.run("keep_attempt", new.id)
        row = new_row(new, self.now, (WAITING, NO_GATE, new.run_at, False))
        await self.session.run("arm_again", new.id, *row[3:9], *row[10:16])
        await self.session.run("queue_armed", new.id, new.rank, row[21])
        self.flow.ended[new.job.project, SKIPPED] -= 1


def new_row(new: NewExecution, now: int, at: Place) -> tuple[Any, ...]:
    """The columns of `insert_new`."""
    job = new.job
    return (
        new.id,
        job.project,
        job.id,
        job.version,
        KIND_CODE[new.kind],
        new.fire_time,
        new.run_at,
        job.queue,
        job.target.ability,
        now,
        OVERLAP_CODE[new.overlap],
        new.gate,
        new.limit,
        to_json(new.payload),
        clean(new.key),
        clean(new.revived_from),
        *at,
        new.rank,
        expires_at(new),
    )


def prune_at(job: Job, now: int) -> int:
    """Before this instant nothing that is recorded now can be past its retention."""
    return now + min(job.retention.age, job.retention.dead)
