"""A store made of parts: each operation of `ports.store` is done by the part that is named here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from tickwell.domain.change import Changed, Changer
from tickwell.domain.execution import Claim, Execution, NewExecution, RangeSkip, Start, State
from tickwell.domain.job import Entry, Job, JobState
from tickwell.domain.outcome import Report
from tickwell.domain.queue import LaneLength
from tickwell.domain.step import Step
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.ports.records import (
    Claimable,
    ClaimRequest,
    ExecutionFilter,
    Finished,
    Fired,
    JobFilter,
    Page,
    Promoted,
    QueueLength,
    Record,
    Wakeup,
)
from tickwell.ports.store import CatalogStore, PlanMaker, RecordStore, StepStore
from tickwell.ports.transfer import KeptExecution, TransferStore


class FiringPart(Protocol):
    """Plans jobs that are due."""

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired: ...


class QueuePart(Protocol):
    """Moves executions to their workers."""

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted: ...

    async def claim(self, request: ClaimRequest) -> list[Claim]: ...

    async def claimable(self, request: ClaimRequest) -> list[Claimable]: ...

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]: ...

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup: ...


class ReportsPart(Protocol):
    """Ends attempts."""

    async def finish(self, reports: Sequence[Report], now: int) -> Finished: ...


class LivenessPart(Protocol):
    """Follows workers and what they run."""

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse: ...

    async def record_starts(self, starts: Sequence[Start]) -> list[str]: ...

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool: ...

    async def orphans(self, now: int, limit: int) -> list[Claim]: ...

    async def list_workers(self) -> list[Liveness]: ...


class HistoryPart(Protocol):
    """Records and lists executions."""

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]: ...

    async def get_execution(self, project: str, id: str) -> Execution | None: ...

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]: ...

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]: ...

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]: ...

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]: ...

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]: ...

    async def stats(self, project: str | None = None) -> dict[State, int]: ...

    async def queue_lengths(self, now: int) -> list[QueueLength]: ...

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]: ...


class ComposedStore:
    """The operations of `ports.store.Store`, but for `Upkeep`, which each store has itself.

    The parts are built in the constructor of the store, around what they share. A subclass may
    override an operation: parts never call each other through the store.
    """

    firing: FiringPart
    queue: QueuePart
    reports: ReportsPart
    liveness: LivenessPart
    catalog: CatalogStore
    history: HistoryPart
    steps: StepStore
    records: RecordStore
    transfer: TransferStore

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired:
        return await self.firing.fire_due(now, horizon, limit, plan, round_robin=round_robin)

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        return await self.queue.promote(now, horizon, limit)

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        return await self.queue.claim(request)

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.queue.claimable(request)

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        return await self.reports.finish(reports, now)

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        return await self.queue.settle(ids, states, to, reason, now)

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        return await self.queue.next_wakeup(now, queues)

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        return await self.liveness.beat(worker, now, leaving=leaving)

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        return await self.liveness.record_starts(starts)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        return await self.liveness.declare_lost(worker_id, beat, now)

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        return await self.liveness.orphans(now, limit)

    async def list_workers(self) -> list[Liveness]:
        return await self.liveness.list_workers()

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        return await self.catalog.add_jobs(entries, now)

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        return await self.catalog.change_jobs(project, ids, change, now)

    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        return await self.catalog.get_jobs(project, keys)

    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        return await self.catalog.list_jobs(where, cursor, limit)

    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        return await self.catalog.count_jobs(project)

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        return await self.history.add_executions(new, now, horizon)

    async def get_execution(self, project: str, id: str) -> Execution | None:
        return await self.history.get_execution(project, id)

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        return await self.history.list_executions(where, cursor, limit)

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        return await self.history.list_skips(job_id, since, until)

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.history.request_cancel(project, ids, now)

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.history.revive(project, ids, now)

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        return await self.history.purge(project, ids, now)

    async def stats(self, project: str | None = None) -> dict[State, int]:
        return await self.history.stats(project)

    async def queue_lengths(self, now: int) -> list[QueueLength]:
        return await self.history.queue_lengths(now)

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        return await self.history.lane_lengths(state, limit)

    async def write_steps(self, steps: Sequence[Step]) -> list[Step]:
        return await self.steps.write_steps(steps)

    async def answer_step(self, project: str, id: str, name: str, value: Any, now: int) -> bool:
        return await self.steps.answer_step(project, id, name, value, now)

    async def list_steps(self, project: str, id: str) -> list[Step]:
        return await self.steps.list_steps(project, id)

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        return await self.records.put_record(record, now, expected_version)

    async def put_records(self, records: Sequence[Record], now: int) -> None:
        await self.records.put_records(records, now)

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        return await self.records.get_record(kind, project, key, now)

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        return await self.records.list_records(kind, project, prefix, now, limit)

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        return await self.records.delete_record(kind, project, key)

    async def read_executions(self, after: str, limit: int) -> list[KeptExecution]:
        return await self.transfer.read_executions(after, limit)

    async def restore_executions(self, kept: Sequence[KeptExecution]) -> None:
        await self.transfer.restore_executions(kept)

    async def restore_skips(self, job: Job, skips: Sequence[RangeSkip]) -> None:
        await self.transfer.restore_skips(job, skips)

    async def read_records(self, after: tuple[str, str, str], now: int, limit: int) -> list[Record]:
        return await self.transfer.read_records(after, now, limit)

    async def restore_records(self, records: Sequence[Record]) -> None:
        await self.transfer.restore_records(records)
