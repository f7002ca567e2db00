"""Notes of attempts in the store: written beside the hot path, never in an attempt's way."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol

from tickwell.clock import Clock
from tickwell.domain.execution import Claim, State
from tickwell.domain.note import OUTPUT, PROGRESS, output_key
from tickwell.errors import StoreError
from tickwell.executors.text import clean
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import HistoryStore, RecordStore

#: Seconds between two writes of one attempt's progress, and before a failed write is repeated.
REST = 1.0
#: Attempts whose lines wait to be written; of more than that the oldest are dropped.
MOST_WAITING = 1_000
#: Successes among which the last to end is looked for: the list is by their beginning.
RECENT = 20
#: Characters of a message of progress.
LONGEST_MESSAGE = 500


class NoteStore(HistoryStore, RecordStore, Protocol):
    """What notes are written to and results read from."""


class NoNotes:
    """Keeps nothing; for executors without a store."""

    def attach(self) -> None: ...

    def progress(self, claim: Claim, fraction: float, message: str) -> None: ...

    def keep_output(self, claim: Claim, lines: list[str], *, failed: bool) -> None: ...

    async def last_result(self, claim: Claim) -> Any: ...

    async def close(self) -> None: ...


class StoreNotes:
    """Gathers notes of the attempts of one worker and writes them in a task of its own."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._progress: dict[str, Record] = {}
        self._outputs: deque[Record] = deque(maxlen=MOST_WAITING)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        #: The monotonic instant from which on progress is written again.
        self._due = float("-inf")

    def attach(self) -> None:
        """Write in this event loop."""
        self._loop = asyncio.get_running_loop()

    def progress(self, claim: Claim, fraction: float, message: str) -> None:
        """Remember how far an attempt is; from any thread."""
        now = self.clock.now()
        self._progress[claim.id] = Record(
            kind=PROGRESS,
            project=claim.job.project,
            key=claim.id,
            document={
                "attempt": claim.attempt,
                "fraction": fraction,
                "message": clean(message[:LONGEST_MESSAGE]),
                "at": now,
            },
            expires_at=claim.deadline,
        )
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._begin)

    def keep_output(self, claim: Claim, lines: list[str], *, failed: bool) -> None:
        """Keep what an attempt printed as long as its execution is kept."""
        retention = claim.job.retention
        kept = retention.dead if failed else retention.age
        self._outputs.append(
            Record(
                kind=OUTPUT,
                project=claim.job.project,
                key=output_key(claim.id, claim.attempt),
                document={"attempt": claim.attempt, "lines": [clean(line) for line in lines]},
                expires_at=self.clock.now() + kept,
            )
        )
        self._begin()

    async def last_result(self, claim: Claim) -> Any:
        """What the job's newest success before this execution returned."""
        where = ExecutionFilter(
            project=claim.job.project, job_id=claim.job.id, states=frozenset({State.SUCCEEDED})
        )
        found = (await self.store.list_executions(where, limit=RECENT)).items
        if not found:
            return None
        newest = max(found, key=lambda one: one.ended_at or 0)
        read = await self.store.get_execution(claim.job.project, newest.id)
        return None if read is None else read.result

    async def close(self) -> None:
        """Write what is left, once; a store that is away costs these lines."""
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        try:
            async with asyncio.timeout(REST):
                await self._write_outputs()
                await self._write_progress()
        except (TimeoutError, StoreError):
            return

    def _begin(self) -> None:
        self._wake.set()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._run(), name="tickwell-notes")

    async def _run(self) -> None:
        while self._progress or self._outputs:
            self._wake.clear()
            try:
                await self._write_outputs()
                if self.clock.monotonic() >= self._due:
                    self._due = self.clock.monotonic() + REST
                    await self._write_progress()
            except StoreError:  # told by the loops, which meet it too
                await self.clock.wait(asyncio.Event(), REST)
            if self._progress and not self._outputs:
                await self.clock.wait(self._wake, self._due - self.clock.monotonic())

    async def _write_outputs(self) -> None:
        while self._outputs:
            record = self._outputs[0]
            await self.store.put_record(record, self.clock.now())
            if self._outputs and self._outputs[0] is record:  # not dropped meanwhile
                self._outputs.popleft()

    async def _write_progress(self) -> None:
        for id, record in list(self._progress.items()):
            await self.store.put_record(record, self.clock.now())
            if self._progress.get(id) is record:
                del self._progress[id]
