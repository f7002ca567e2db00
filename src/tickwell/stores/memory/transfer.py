"""Everything in memory as it is, read and written for a copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy, deepcopy
from dataclasses import replace

from tickwell.domain.execution import RangeSkip, State
from tickwell.domain.job import Job
from tickwell.domain.step import Step, in_order
from tickwell.ports.records import Record
from tickwell.ports.transfer import KeptExecution, at_rest
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row, Waits, own


class MemoryTransfer:
    """`ports.transfer.TransferStore`."""

    def __init__(self, flow: Flow) -> None:
        self.tables = flow.tables

    async def read_executions(self, after: str, limit: int) -> list[KeptExecution]:
        ids = sorted(id for id in self.tables.rows if id > after)[:limit]
        return [
            kept_of(self.tables.rows[id], deepcopy([*self.tables.steps.get(id, {}).values()]))
            for id in ids
        ]

    async def restore_executions(self, kept: Sequence[KeptExecution]) -> None:
        for one in kept:
            if one.execution.id not in self.tables.rows:
                self._restore(one)

    def _restore(self, kept: KeptExecution) -> None:
        tables, row = self.tables, row_of(kept)
        execution = row.execution
        tables.put_row(row)
        is_blocked = execution.state is State.BLOCKED
        tables.move(row, execution.state, Waits.JOB if is_blocked else None)
        if kept.holds_job:
            tables.job_gate[execution.job_id] = execution.id
        if kept.steps:
            tables.steps[execution.id] = {step.name: deepcopy(step) for step in kept.steps}

    async def restore_skips(self, job: Job, skips: Sequence[RangeSkip]) -> None:
        if not self.tables.skips.get(job.id):
            self.tables.skips[job.id] = [copy(skip) for skip in skips]

    async def read_records(self, after: tuple[str, str, str], now: int, limit: int) -> list[Record]:
        found = sorted(key for key in self.tables.records if key > after)
        records = (self.tables.records[key] for key in found)
        there = [each for each in records if each.expires_at is None or each.expires_at > now]
        return [replace(each, document=own(each.document)) for each in there[:limit]]

    async def restore_records(self, records: Sequence[Record]) -> None:
        for record in records:
            key = record.kind, record.project, record.key
            self.tables.records[key] = replace(record, document=own(record.document))


def kept_of(row: Row, steps: Iterable[Step]) -> KeptExecution:
    """A row as it is handed over."""
    kept = KeptExecution(
        execution=deepcopy(row.execution),
        overlap=row.overlap,
        gate=row.gate,
        limit=row.limit,
        unique=row.unique,
        steps=tuple(in_order(steps)),
        rank=row.rank,
        expires_at=row.expires_at,
        holds_job=row.holds_job,
        claim_id=row.claim_id,
        called_off=row.called_off,
    )
    return at_rest(kept, before_job=row.waits is Waits.JOB)


def row_of(kept: KeptExecution) -> Row:
    """What was handed over, as a row; it is not yet in the queue."""
    execution = deepcopy(kept.execution)
    return Row(
        execution=execution,
        rank=kept.rank,
        overlap=kept.overlap,
        gate=kept.gate,
        limit=kept.limit,
        look_at=execution.run_at,
        expires_at=kept.expires_at,
        permit_from=execution.run_at,
        holds_job=kept.holds_job,
        claim_id=kept.claim_id,
        called_off=kept.called_off,
        unique=kept.unique,
    )
