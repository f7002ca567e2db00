"""Which tasks are at the broker, on record: an attempt that follows a lost one sends none twice."""

from __future__ import annotations

import asyncio
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.errors import StoreError
from tickwell.ports.records import Record
from tickwell.ports.store import HistoryStore, RecordStore

#: The kind of the records, by the execution's id.
SENT = "celery_sent"
#: Milliseconds that a mark outlives its attempt: as long as Celery keeps results by default.
KEPT = 86_400_000
#: Seconds before a failed write is repeated.
REST = 1.0
#: Outcomes after which the next attempt is another task: this one's result is on record.
_OVER = frozenset(
    {
        OutcomeKind.SUCCEEDED,
        OutcomeKind.FAILED,
        OutcomeKind.TIMED_OUT,
        OutcomeKind.CANCELLED,
    }
)


class MarkStore(HistoryStore, RecordStore, Protocol):
    """What marks are written to and attempts read from."""


class Marks:
    """Writes a mark for each task that is sent and has not ended by the time its turn comes."""

    def __init__(self, store: MarkStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._unwritten: dict[str, Record] = {}
        self._writer: asyncio.Task[None] | None = None

    async def task_id(self, claim: Claim) -> str:
        """The id of the attempt's task: the same until an attempt ended with its result.

        A result backend remembers what an id ended with, so the next task needs another one.
        """
        if claim.attempt == 1:
            return claim.id
        read = await self._store.get_execution(claim.job.project, claim.id)
        ended = read.attempts if read is not None else []
        number = max((each.number for each in ended if each.outcome in _OVER), default=0) + 1
        return claim.id if number == 1 else f"{claim.id}-{number}"

    async def is_sent(self, claim: Claim, task_id: str) -> bool:
        """Whether an earlier attempt sent the task and knew it."""
        if claim.attempt == 1:
            return False
        now = self._clock.now()
        found = await self._store.get_record(SENT, claim.job.project, claim.id, now)
        return found is not None and found.document["task"] == task_id

    def add(self, claim: Claim, task_id: str) -> None:
        """The broker has the task: write it down soon."""
        self._unwritten[claim.id] = Record(
            kind=SENT,
            project=claim.job.project,
            key=claim.id,
            document={"task": task_id},
            expires_at=claim.deadline + KEPT,
        )
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="tickwell-celery-marks")

    def drop(self, claim: Claim) -> None:
        """The task has ended: its attempt's outcome says more."""
        self._unwritten.pop(claim.id, None)

    async def flush(self, claim: Claim) -> None:
        """Write this one now, once; without it the next attempt may send the task again."""
        record = self._unwritten.pop(claim.id, None)
        if record is not None:
            try:
                async with asyncio.timeout(REST):
                    await self._store.put_record(record, self._clock.now())
            except (TimeoutError, StoreError):
                return

    async def close(self) -> None:
        """Write no more."""
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)

    async def _write(self) -> None:
        while self._unwritten:
            id, record = next(iter(self._unwritten.items()))
            try:
                await self._store.put_record(record, self._clock.now())
            except StoreError:  # told by the loops, which meet it too
                await self._clock.wait(asyncio.Event(), REST)
                continue
            if self._unwritten.get(id) is record:
                del self._unwritten[id]
