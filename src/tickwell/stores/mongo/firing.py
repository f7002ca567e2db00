"""Firing on MongoDB: plan due jobs, and write plan and cursor of each job in one step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tickwell.clock import NEVER
from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Entry
from tickwell.domain.planning import Plan
from tickwell.ports.records import Ended, Fired
from tickwell.ports.store import PlanMaker
from tickwell.stores.memory.pending import PendingExecutions
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import ADDING, WAITING
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import WHOLE, is_gated
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.workspace.concurrency_gates import Moved
from tickwell.stores.mongo.workspace.transaction import Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace


@dataclass(slots=True)
class Planned:
    """One job with its plan, and what of it was new: how many executions, and which skips."""

    entry: Entry
    plan: Plan
    recorded: int = 0
    ended: Ended = field(default_factory=Counter)
    skips: list[RangeSkip] = field(default_factory=list)


class MongoFiring(Part):
    """The part of `ports.store.QueueStore` that plans."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions

    @translate_errors
    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired:
        end = now + horizon
        due, more = await (self._due_round_robin if round_robin else self._due)(now, end, limit)
        fired = Fired(more=more)
        planned: dict[str, Planned] = {}

        async def read(space: Workspace) -> None:
            planned.clear()
            for id in due:
                entry = space.tables.jobs.get(id)
                at = entry.cursor.next_fire_time if entry else None
                if entry is not None and at is not None and at <= end:
                    self._plan(entry, plan, now, planned)
            await self._read_for(space, planned)

        async def change(space: Workspace) -> None:
            for each in planned.values():
                _fire(space, each, now, horizon)

        def after(_: Workspace, missed: set[str], __: Moved) -> None:
            for id, each in planned.items():
                if id not in missed:
                    _count(fired, each)

        await self.transactions.run(due, now, read, change, after)
        return fired

    def _plan(self, entry: Entry, plan: PlanMaker, now: int, planned: dict[str, Planned]) -> None:
        id = entry.job.id
        try:
            planned[id] = Planned(entry, plan(entry.job, entry.cursor))
        except Exception as error:  # noqa: BLE001 - the other jobs are fired all the same
            self.cache.unreadable.add(id, id, error, now, planning=True)

    async def _due(self, now: int, end: int, limit: int, **where: str) -> tuple[list[str], bool]:
        """The due jobs, and whether there may be more."""
        left_out = self.cache.unreadable.keys(now, planning=True)
        found = self.database.jobs.find(
            {"next": {"$lte": end}, "state": {"$gt": ADDING}, "_id": {"$nin": left_out}, **where},
            {"_id": 1},
            sort=[("next", 1), ("_id", 1)],
            limit=limit,
        )
        due = [doc["_id"] async for doc in found]
        return due, len(due) == limit

    async def _due_round_robin(self, now: int, end: int, limit: int) -> tuple[list[str], bool]:
        # With a range of projects, MongoDB steps along the index from one project to the next.
        asked = {"project": {"$gt": ""}, "next": {"$lte": end}}
        projects = sorted(await self.database.jobs.distinct("project", asked))[:limit]
        part = limit // max(len(projects), 1)
        parts = [await self._due(now, end, part, project=project) for project in projects]
        return [id for due, _ in parts for id in due], any(more for _, more in parts)

    async def _read_for(self, space: Workspace, planned: dict[str, Planned]) -> None:
        """Read what plans may collide with: existing slots, busy gates, fires held by a pause."""
        plans = [each.plan for each in planned.values()]
        await self.transactions.read_rows(
            space, [new.id for each in plans for new in each.executions]
        )
        new = [one for each in plans for one in each.executions]
        if any(is_gated(one.overlap) for one in new):
            await self.transactions.read_gates(
                space, 2 + max(len(each.executions) for each in plans), new
            )
        for id, each in planned.items():
            await self.transactions.read_skips(space, id, each.plan.skips)
        released = [id for id, each in planned.items() if each.plan.release_at is not None]
        if released:
            where: Document = {"job": {"$in": released}, "state": WAITING, "look_at": NEVER}
            found = self.database.executions.find(where, WHOLE)
            for doc in [doc async for doc in found]:
                space.add_row(doc)


def _fire(space: Workspace, each: Planned, now: int, horizon: int) -> None:
    job, plan = each.entry.job, each.plan
    space.tables.put_entry(Entry(job, plan.cursor))
    each.skips = space.flow.record_skips(job, plan.skips)
    with space.flow.counting_ends() as each.ended:
        each.recorded = space.flow.record_plan(job.id, plan, now, horizon)
    if plan.release_at is not None:
        PendingExecutions(space.flow, job).release(max(now, plan.release_at))


def _count(fired: Fired, each: Planned) -> None:
    fired.jobs += 1
    fired.executions += each.recorded
    fired.ended += each.ended
    fired.skip(each.skips)
    fired.more = fired.more or each.plan.more
