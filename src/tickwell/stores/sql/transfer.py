"""Everything of a SQL store as it is, read and written for a copy."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from tickwell.domain.execution import ENDED, Attempt, Execution, RangeSkip, State
from tickwell.domain.job import Job
from tickwell.domain.step import Step, in_order
from tickwell.ports.records import Record
from tickwell.ports.transfer import KeptExecution, at_rest
from tickwell.stores.sql.parts import D, Part
from tickwell.stores.sql.rows.codec import (
    FIRST_ID,
    JOB_GATE,
    KIND_CODE,
    NO_GATE,
    OUTCOME_CODE,
    OVERLAP_CODE,
    OVERLAPS,
    STATE_CODE,
    clean,
    document_to_text,
    skip_row,
    to_json,
)
from tickwell.stores.sql.rows.documents import record_of
from tickwell.stores.sql.rows.executions import attempt_of, execution_of
from tickwell.stores.sql.session import Session

#: The pruner looks at a job at once, and works out when it has to look again.
AT_ONCE = 0


class SqlTransfer(Part[D]):
    """`ports.transfer.TransferStore`."""

    async def read_executions(self, after: str, limit: int) -> list[KeptExecution]:
        after = after or FIRST_ID

        async def work(session: Session) -> tuple[list[Any], list[Any], list[Any]]:
            rows = await session.rows("read_executions", after, limit)
            if not rows:
                return [], [], []
            span = after, rows[-1][0]
            attempts = await session.rows("read_attempts", *span)
            return rows, attempts, await session.rows("read_steps", *span)

        rows, attempts, steps = await self.database.read(work)
        earlier: defaultdict[str, list[Attempt]] = defaultdict(list)
        for id, *values in attempts:
            earlier[id].append(attempt_of(values))
        done: defaultdict[str, list[Step]] = defaultdict(list)
        for row in steps:
            done[row[0]].append(_step_of(row))
        return [_kept_of(row, earlier.get(row[0], []), done.get(row[0], [])) for row in rows]

    async def restore_executions(self, kept: Sequence[KeptExecution]) -> None:
        if not kept:
            return

        async def work(session: Session) -> None:
            known = {row[0] for row in await session.rows("existing", _ids(kept))}
            new = [one for one in kept if one.execution.id not in known]
            if new:
                await _insert(session, new)

        await self.database.write(work)

    async def restore_skips(self, job: Job, skips: Sequence[RangeSkip]) -> None:
        rows = [skip_row(job.id, skip, job.retention.age) for skip in skips]

        async def work(session: Session) -> None:
            first, last = min(row[1] for row in rows), max(row[2] for row in rows)
            if not await session.rows("list_skips", job.id, last + 1, first):
                await session.many("insert_skips", rows)

        if rows:
            await self.database.write(work)

    async def read_records(self, after: tuple[str, str, str], now: int, limit: int) -> list[Record]:
        head = tuple(clean(part) for part in after)
        rows = await self.database.read_one(
            lambda session: session.rows("read_records", *head, now, limit)
        )
        return [record_of(row) for row in rows]

    async def restore_records(self, records: Sequence[Record]) -> None:
        rows = [
            (
                clean(one.kind),
                clean(one.project),
                clean(one.key),
                document_to_text(one.document),
                one.version,
                one.expires_at,
            )
            for one in records
        ]
        await self.database.write(lambda session: session.many("restore_records", rows))


async def _insert(session: Session, kept: Sequence[KeptExecution]) -> None:
    """Record what is new, with all that is counted of it."""
    await session.many("restore_executions", [_row(one) for one in kept])
    await session.many("insert_attempts", [row for one in kept for row in _attempt_rows(one)])
    await session.many("restore_steps", [_step_row(step) for one in kept for step in one.steps])
    live = [one for one in kept if one.execution.state not in ENDED]
    running = [one for one in live if one.execution.state is State.RUNNING]
    pending = [one for one in live if one.execution.state is not State.RUNNING]
    await session.many("restore_pending", [_pending_row(one) for one in pending])
    await session.many("restore_running", [_running_row(one) for one in running])
    for one in kept:
        if one.unique is not None:
            own = one.execution
            named = clean(one.unique), own.created_at
            await session.run("add_unique", own.id, own.job_id, *named)
    await _count(session, kept)


async def _count(session: Session, kept: Sequence[KeptExecution]) -> None:
    made = Counter(one.execution.job_id for one in kept)
    holders = {row[0]: row[4] for row in await session.rows("lock_jobs", sorted(made))}
    holders |= {one.execution.job_id: one.execution.id for one in kept if one.holds_job}
    await session.many(
        "count_made", [(made[job], holders.get(job), AT_ONCE, job) for job in sorted(made)]
    )
    ended = Counter(
        (clean(one.execution.project), STATE_CODE[one.execution.state])
        for one in kept
        if one.execution.state in ENDED
    )
    await session.many("count_ended", [(*which, count) for which, count in sorted(ended.items())])


def _ids(kept: Sequence[KeptExecution]) -> list[str]:
    return [one.execution.id for one in kept]


def _kept_of(row: Any, attempts: list[Attempt], steps: list[Step]) -> KeptExecution:
    execution = execution_of(row)
    overlap, gate, limit, unique, rank, expires_at, holds_job, claim_id, called_off, waits = row[
        27:
    ]
    if row[26] is not None:
        last = row[13], row[26], row[18], row[21], row[22], row[23], row[24]
        attempts = [*attempts, attempt_of(last)]
    execution.attempts = attempts
    kept = KeptExecution(
        execution=execution,
        overlap=OVERLAPS[overlap],
        gate=gate,
        limit=limit,
        unique=unique,
        steps=tuple(in_order(steps)),
        rank=rank,
        expires_at=expires_at,
        holds_job=bool(holds_job),
        claim_id=claim_id or "",
        called_off=bool(called_off),
    )
    return at_rest(kept, before_job=waits == JOB_GATE)


def _row(kept: KeptExecution) -> tuple[Any, ...]:
    """The columns of `restore_executions`."""
    one, last = kept.execution, _own_attempt(kept.execution)
    is_running = one.state is State.RUNNING
    return (
        one.id,
        clean(one.project),
        one.job_id,
        one.job_version,
        KIND_CODE[one.kind],
        one.fire_time,
        one.run_at,
        clean(one.queue),
        clean(one.ability),
        one.created_at,
        OVERLAP_CODE[kept.overlap],
        clean(kept.gate),
        kept.limit,
        to_json(one.payload),
        clean(one.key),
        clean(one.revived_from),
        STATE_CODE[one.state] if one.state in ENDED else None,
        one.attempt,
        one.charged,
        one.lost,
        one.returned,
        None if last is None else OUTCOME_CODE[last.outcome],
        clean(one.reason),
        # Of one that runs, the row that says so has them.
        None if is_running else clean(one.worker),
        None if is_running else one.started_at,
        one.ended_at,
        clean(one.error),
        to_json(one.result),
    )


def _own_attempt(execution: Execution) -> Attempt | None:
    """The attempt that ended the execution, which is part of its row."""
    last = execution.attempts[-1] if execution.attempts else None
    if last is None or execution.state not in ENDED:
        return None
    mine = execution.attempt, execution.worker, execution.started_at, execution.ended_at
    is_mine = mine == (last.number, last.worker, last.started_at, last.ended_at)
    return last if is_mine and execution.error == last.error else None


def _attempt_rows(kept: KeptExecution) -> list[tuple[Any, ...]]:
    one, last = kept.execution, _own_attempt(kept.execution)
    return [
        (
            one.id,
            each.number,
            OUTCOME_CODE[each.outcome],
            clean(each.worker),
            each.started_at,
            each.ended_at,
            clean(each.error),
            to_json(each.result),
        )
        for each in one.attempts
        if each is not last
    ]


def _pending_row(kept: KeptExecution) -> tuple[Any, ...]:
    one = kept.execution
    waits = JOB_GATE if one.state is State.BLOCKED else NO_GATE
    return one.id, STATE_CODE[one.state], waits, kept.rank, kept.expires_at, kept.holds_job


def _running_row(kept: KeptExecution) -> tuple[Any, ...]:
    one = kept.execution
    return (
        one.id,
        kept.rank,
        kept.expires_at,
        clean(one.worker),
        clean(kept.claim_id),
        one.deadline,
        kept.holds_job,
        one.cancel_requested,
        kept.called_off,
        one.started_at,
    )


def _step_row(step: Step) -> tuple[Any, ...]:
    head = step.execution, clean(step.name), step.attempt, step.at, step.is_final
    return *head, document_to_text(step.value)


def _step_of(row: Any) -> Step:
    execution, attempt, name, at, is_final, document = row
    return Step(
        execution=execution,
        attempt=attempt,
        name=name,
        value=json.loads(document),
        at=at,
        is_final=bool(is_final),
    )
