"""Everything on Redis as it is, read and written for a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import ENDED, Attempt, RangeSkip, State
from tickwell.domain.job import Job
from tickwell.domain.step import in_order
from tickwell.domain.worker import Worker
from tickwell.ports.records import Record
from tickwell.ports.transfer import KeptExecution, at_rest
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.records import field_of, record_of
from tickwell.stores.redis.rows import dumps, present, skip_argument
from tickwell.stores.redis.steps import step_argument, step_of
from tickwell.stores.sql.rows.codec import (
    JOB_GATE,
    KIND_CODE,
    OUTCOME_CODE,
    OVERLAP_CODE,
    OVERLAPS,
    STATE_CODE,
    clean,
    to_json,
)
from tickwell.stores.sql.rows.documents import JOB_VERSION
from tickwell.stores.sql.rows.executions import attempt_of, execution_of, worker_to_json

#: Executions that one script reads or writes: the server does nothing else meanwhile.
MOST = 200


class RedisTransfer:
    """`ports.transfer.TransferStore`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def read_executions(self, after: str, limit: int) -> list[KeptExecution]:
        found: list[KeptExecution] = []
        while len(found) < limit:
            some = min(MOST, limit - len(found))
            rows = await self.client.answer("read_executions", after, some)
            found += [_kept_of(row) for row in rows]
            if len(rows) < some:
                break
            after = found[-1].execution.id
        return found

    async def restore_executions(self, kept: Sequence[KeptExecution]) -> None:
        for begin in range(0, len(kept), MOST):
            some = kept[begin : begin + MOST]
            rows = [[one.execution.id, _row(one), _steps(one), _worker(one)] for one in some]
            await self.client.call("restore_executions", dumps(rows))

    async def restore_skips(self, job: Job, skips: Sequence[RangeSkip]) -> None:
        if skips:
            rows = [skip_argument(skip) for skip in skips]
            await self.client.call("restore_skips", job.id, dumps(rows))

    async def read_records(self, after: tuple[str, str, str], now: int, limit: int) -> list[Record]:
        found = await self.client.call("read_records", field_of(*after), now, limit)
        return [
            record_of(kind, project, key, value)
            for field, value in zip(found[::2], found[1::2], strict=True)
            for kind, project, key in [field.decode().split("\0", 2)]
        ]

    async def restore_records(self, records: Sequence[Record]) -> None:
        rows = [
            present(
                (
                    field_of(one.kind, one.project, one.key),
                    dumps([one.version, one.expires_at, one.document]),
                    one.expires_at,
                )
            )
            for one in records
        ]
        former = [
            [*one.key.split("/", 1), one.document.get("saved_at", 0)]
            for one in records
            if one.kind == JOB_VERSION
        ]
        if rows:
            await self.client.call("restore_records", dumps(rows), dumps(former))


def _kept_of(row: list[Any]) -> KeptExecution:
    attempts, unique, steps = row[39:]
    execution = execution_of(row[:26])
    execution.attempts = [attempt_of(each) for each in attempts]
    rank, overlap, gate, limit, _, expires_at, waits, holds_job, _, claim_id, called_off = row[
        26:37
    ]
    kept = KeptExecution(
        execution=execution,
        overlap=OVERLAPS[overlap],
        gate=gate,
        limit=limit,
        unique=unique,
        steps=tuple(
            in_order(
                step_of(execution.id, name, stored)
                for name, stored in zip(steps[::2], steps[1::2], strict=True)
            )
        ),
        rank=rank,
        expires_at=expires_at,
        holds_job=bool(holds_job),
        claim_id=claim_id or "",
        called_off=bool(called_off),
    )
    return at_rest(kept, before_job=waits == JOB_GATE)


def _row(kept: KeptExecution) -> list[Any]:
    """The fields of a row as scripts/shared/words.lua has them; the job's own follow there."""
    one, is_ended = kept.execution, kept.execution.state in ENDED
    attempts = [_attempt(each) for each in one.attempts]
    if attempts:
        attempts[-1][-1] = False  # the execution has it
    return present(
        (
            clean(one.project),
            one.job_id,
            one.job_version,
            KIND_CODE[one.kind],
            STATE_CODE[one.state],
            one.fire_time,
            one.run_at,
            clean(one.queue),
            clean(one.ability),
            one.created_at,
            to_json(one.payload),
            clean(one.key),
            one.attempt,
            one.charged,
            one.lost,
            one.returned,
            clean(one.reason),
            clean(one.worker),
            one.deadline,
            one.cancel_requested,
            one.started_at,
            one.ended_at,
            clean(one.error),
            to_json(one.result),
            clean(one.revived_from),
            kept.rank,
            OVERLAP_CODE[kept.overlap],
            clean(kept.gate),
            kept.limit,
            one.run_at,
            None if is_ended else kept.expires_at,
            JOB_GATE if one.state is State.BLOCKED else None,
            kept.holds_job,
            None,
            clean(kept.claim_id) or None,
            kept.called_off,
            None,
            None,
            attempts or None,
            clean(kept.unique),
        )
    )


def _attempt(attempt: Attempt) -> list[Any]:
    return present(
        (
            attempt.number,
            OUTCOME_CODE[attempt.outcome],
            clean(attempt.worker),
            attempt.started_at,
            attempt.ended_at,
            clean(attempt.error),
            to_json(attempt.result),
        )
    )


def _worker(kept: KeptExecution) -> str | bool:
    """The document of the worker that runs it, of which no more is known than its id."""
    one = kept.execution
    if one.state is not State.RUNNING:
        return False
    nothing: dict[str, Any] = {"host": "", "pid": 0, "queues": (), "abilities": ()}
    worker = Worker(id=one.worker or "", capacity=0, started_at=0, **nothing)
    return dumps(worker_to_json(worker))


def _steps(kept: KeptExecution) -> list[str]:
    return [text for step in kept.steps for text in step_argument(step)]
