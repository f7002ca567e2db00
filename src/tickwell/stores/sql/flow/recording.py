"""Recording executions: in batches where nothing stands in the way, else one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tickwell.domain.coverage import uncovered
from tickwell.domain.execution import Kind, NewExecution, RangeSkip, State
from tickwell.domain.job import Job
from tickwell.domain.rate import is_rate
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.flow.initial_state import Batch, RowState, expires_at, may_arm, row_states
from tickwell.stores.sql.flow.pieces import in_pieces
from tickwell.stores.sql.rows.codec import (
    BLOCKED,
    KEY_GATE,
    KIND_CODE,
    NO_GATE,
    OVERLAP_CODE,
    QUEUED,
    SKIPPED,
    WAITING,
    clean,
    skip_of,
    skip_row,
    to_json,
)
from tickwell.stores.sql.session import Session

#: State and reason of an execution on record.
_Known = tuple[int | None, str | None]


class IdTaken(Exception):
    """An id of the batch is on record: all is taken back, and looked at more closely."""


class Recorder:
    """Records executions inside a transaction that holds their jobs."""

    def __init__(self, flow: Flow, now: int, horizon: int) -> None:
        self.flow = flow
        self.session = flow.session
        self.now = now
        self.horizon = horizon

    async def quickly(
        self,
        batches: Sequence[Batch[str]],
        *,
        careful: bool,
        order: Sequence[NewExecution] = (),
        slow_ones: bool = False,
    ) -> None:
        """Write all that can be written together; the other batches are marked as slow.

        Ids are looked up before only after one was found taken, which is rare. Before concurrency
        gates order matters: that of the batches, unless another is given; and as soon as there are
        slow ones, an execution that passes such a gate is slow as well.
        """
        known = await self._known(batches) if careful else {}
        decided = list[tuple[Batch[str], list[RowState] | None]]()
        async for piece in in_pieces(batches):
            decided += [(batch, self._row_states(batch, known)) for batch in piece]
        slow_ones = slow_ones or any(states is None for _, states in decided)
        placed: list[tuple[NewExecution, RowState]] = []
        for batch, states in decided:
            batch.slow = states is None or (slow_ones and _passes_keys(batch))
            if batch.slow or states is None:
                batch.holder = batch.held_by
            else:
                placed += zip(batch.executions, states, strict=True)
        if order:
            turn = {id(new): number for number, new in enumerate(order)}
            placed.sort(key=lambda one: turn[id(one[0])])
        rows = await self._through_keys(placed)
        fresh = [row for row in rows if row[0] not in known]
        [(inserted,)] = await self.session.many("insert_new", fresh) or [(0,)]
        if inserted != len(fresh):
            raise IdTaken
        await self._arm([row for row in rows if row[0] in known])
        for new, at in placed:
            if at[0] == SKIPPED:
                self.flow.ended[new.job.project, SKIPPED] += 1
                self.flow.ended_pending[State.SKIPPED, new.job.project, new.job.queue] += 1

    def _row_states(self, batch: Batch[str], known: dict[str, _Known]) -> list[RowState] | None:
        if any(is_rate(new.gate) for new in batch.executions):
            return None
        ids = [new.id for new in batch.executions]
        on_record = [new for new in batch.executions if new.id in known] if known else []
        if not all(may_arm(new, *known[new.id]) for new in on_record):
            return None
        states = row_states(batch, ids, self.now, self.horizon, keyed=True)
        if on_record and states and any(at[0] == SKIPPED for at in states):
            return None
        batch.armed = len(on_record)
        return states

    async def _through_keys(
        self, placed: list[tuple[NewExecution, RowState]]
    ) -> list[tuple[Any, ...]]:
        """The rows to be written: past their jobs' gates, queued or before their keys' gates."""
        held = self.flow.locks.held
        await self.flow.locks.gates(new.gate for new, at in placed if at[0] == QUEUED)
        rows = []
        async for piece in in_pieces(placed):
            for new, at in piece:
                passes = new.gate if at[0] == QUEUED else None
                has_place = passes is not None and held[passes] < new.limit
                if passes is not None:
                    held[passes] += has_place
                stands = at if has_place or passes is None else (BLOCKED, KEY_GATE, *at[2:])
                rows.append((*new_row(new, self.now, stands), has_place))
        return rows

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
        row = (*new_row(new, self.now, (WAITING, NO_GATE, new.run_at, False)), False)
        if found is None:
            await self.session.many("insert_new", [row])
            await self.session.run("count_one_made", new.job.id, prune_at(new.job, self.now))
        else:
            await self._arm([row])
        pending = await self.flow.gates.load(new.id)
        if pending is not None:
            await self.flow.admit(pending, self.now, self.horizon)
        return True

    async def _count_run(self, job: str) -> None:
        if (await self.flow.job(job)).trigger.max_runs is not None:
            await self.session.run("count_runs", 1, job)

    async def _known(self, batches: Sequence[Batch[str]]) -> dict[str, _Known]:
        """Ids that are on record, and how; those that come twice count as such."""
        ids = [new.id for batch in batches for new in batch.executions]
        twice = {id: (None, None) for id, times in Counter(ids).items() if times > 1}
        rows = await self.session.rows("existing", ids)
        return {id: (state, reason) for id, state, reason in rows} | twice

    async def _arm(self, rows: list[tuple[Any, ...]]) -> None:
        """Let slots that were skipped go on under their ids."""
        if rows:
            await self.session.run("keep_attempts", [row[0] for row in rows])
            await self.session.many("arm_again", rows)
        for _, project, *_ in rows:
            self.flow.ended[project, SKIPPED] -= 1


def _passes_keys(batch: Batch[str]) -> bool:
    return any(new.gate is not None for new in batch.executions)


def new_row(new: NewExecution, now: int, at: RowState) -> tuple[Any, ...]:
    """The columns of `insert_new`, but for the last: whether it has a place in its key's gate."""
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
        job.ability,
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


async def new_skips(session: Session, job: Job, skips: Sequence[RangeSkip]) -> list[RangeSkip]:
    """What a job, which is locked, passed over by this definition, and no range has answered."""
    found = []
    for skip in skips:
        known = await session.rows("list_skips", job.id, skip.last + 1, skip.first)
        found += uncovered(job, skip, [skip_of(job.id, row) for row in known])
    return found


async def insert_skips(session: Session, job: Job, skips: Sequence[RangeSkip]) -> None:
    """Record them."""
    rows = [skip_row(job.id, skip, job.retention.age) for skip in skips]
    await session.many("insert_skips", rows)
