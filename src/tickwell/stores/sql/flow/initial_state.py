"""Where new executions stand, as far as it takes no gate of others to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tickwell.domain.execution import TAKEN_BACK, NewExecution
from tickwell.domain.gate import Overlap
from tickwell.stores.sql.rows.codec import BLOCKED, JOB_GATE, NO_GATE, QUEUED, SKIPPED, WAITING

#: How a store names jobs and executions among its rows.
K = TypeVar("K", int, str)

#: State, waits, look_at, holds_job.
RowState = tuple[int, int, int, bool]


@dataclass(slots=True)
class Batch(Generic[K]):
    """New executions of one job, in the order in which they are to be admitted."""

    job: K
    #: Who holds the job's own gate before.
    held_by: K | None
    executions: list[NewExecution]
    #: Who holds it once the batch is written.
    holder: K | None = None
    #: They need the gates, or an id is taken: to be recorded one by one.
    slow: bool = False
    #: How many of them were on record, and are armed again.
    armed: int = 0


def row_states(
    batch: Batch[K], keys: Sequence[K], now: int, horizon: int, *, keyed: bool = False
) -> list[RowState] | None:
    """The places of a batch under these keys, and who holds its job's gate then.

    None: a concurrency gate, a count or another execution has to be looked at. Keyed: the caller
    looks at the concurrency gates of what is queued here.
    """
    holder = batch.held_by
    states: list[RowState] = []
    for key, new in zip(keys, batch.executions, strict=True):
        run_at = new.run_at
        if new.gate is not None and not keyed:
            return None
        if run_at > now + horizon:
            states.append((WAITING, NO_GATE, run_at, False))
        elif new.overlap is Overlap.ALLOW:
            states.append((QUEUED, NO_GATE, run_at, False))
        elif holder is None:
            holder = key
            states.append((QUEUED, NO_GATE, run_at, True))
        elif run_at > now:
            states.append((WAITING, JOB_GATE, run_at + horizon, False))
        elif new.overlap is Overlap.QUEUE_ALL:
            states.append((BLOCKED, JOB_GATE, run_at, False))
        elif new.overlap is Overlap.SKIP and _ends_quietly(new):
            states.append((SKIPPED, NO_GATE, 0, False))
        else:
            return None
    batch.holder = holder
    return states


def may_arm(new: NewExecution, state: int | None, reason: str | None) -> bool:
    """Whether a slot on record may be armed again: it was taken back, or is backfilled."""
    return state == SKIPPED and (new.backfill or reason in TAKEN_BACK)


def expires_at(new: NewExecution) -> int | None:
    """When it is past its time to live."""
    return None if new.job.expires is None else new.run_at + new.job.expires


def _ends_quietly(new: NewExecution) -> bool:
    """Whether its end moves no cursor."""
    trigger = new.job.trigger
    return trigger.max_runs is None and not trigger.follows_finish
