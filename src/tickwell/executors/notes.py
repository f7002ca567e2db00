"""Notes of attempts in the store: written beside the hot path, never in an attempt's way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from tickwell.clock import Clock
from tickwell.domain.execution import Claim, State
from tickwell.domain.note import OUTPUT, PROGRESS, Line, output_document, output_key
from tickwell.domain.step import WAIT, Step, Wait, wait_of
from tickwell.errors import NotRunning, StoreError
from tickwell.executors.live_output import LiveOutput
from tickwell.executors.output import Output
from tickwell.executors.step_writer import StepWriter
from tickwell.executors.text import clean, shown
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import HistoryStore, RecordStore, StepStore

#: Seconds between two writes of one attempt's progress, and before a failed write is repeated.
REST = 1.0
#: Seconds between two writes of lines of attempts under way, and before the first: most attempts
#: end sooner, and their lines are written once. A line is in the store within a second.
FLUSH = 0.5
#: Attempts whose lines wait to be written; of more than that the oldest are dropped.
MOST_WAITING = 1_000
#: Records of one write.
BATCH = 200
#: Successes among which the last to end is looked for: the list is by their beginning.
RECENT = 20
#: Characters of a message of progress.
LONGEST_MESSAGE = 500

#: Records that wait to be written, by kind and key.
Waiting = dict[tuple[str, str], Record]


class NoteStore(HistoryStore, StepStore, RecordStore, Protocol):
    """What notes are written to and results read from."""


class NoNotes:
    """Keeps nothing; for executors without a store."""

    def attach(self) -> None: ...

    def progress(self, claim: Claim, fraction: float, message: str) -> None: ...

    def on_line(self, output: Output) -> None: ...

    def keep_output(self, output: Output, lines: list[Line], *, failed: bool) -> None: ...

    async def last_result(self, claim: Claim) -> Any: ...

    async def read_steps(self, claim: Claim) -> list[Step]:
        return []

    async def write_step(self, claim: Claim, name: str, value: Any, *, is_final: bool) -> None: ...

    async def wait_for(self, claim: Claim, name: str, expires: int) -> tuple[Wait, int]:
        raise NotRunning("nothing is kept here, so nothing can be waited for")

    async def answer_url(self, claim: Claim, name: str, expires: int) -> str:
        raise NotRunning("nothing is kept here, so nothing can be waited for")

    async def close(self) -> None: ...


class StoreNotes:
    """Gathers notes of the attempts of one worker and writes them in a task of its own.

    However many attempts are under way, their lines and their progress take one write each time.
    """

    def __init__(
        self, store: NoteStore, clock: Clock, url: Callable[[str, str, str], str] | None = None
    ) -> None:
        #: Where to answer what an execution waits for: project, execution, name.
        self.url = url
        self.store = store
        self.clock = clock
        self.steps = StepWriter(store, clock)
        self._progress: Waiting = {}
        self._chunks: Waiting = {}
        self._ends: Waiting = {}
        #: Attempts under way with lines that were not looked at yet, and those that were before.
        self._printed: set[Output] = set()
        self._live: dict[Output, LiveOutput] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        #: The monotonic instants from which on progress, and lines, are written again.
        self._progress_due = self._lines_due = float("-inf")

    def attach(self) -> None:
        """Write in this event loop."""
        self._loop = asyncio.get_running_loop()

    def progress(self, claim: Claim, fraction: float, message: str) -> None:
        """Remember how far an attempt is; from any thread."""
        document = {
            "attempt": claim.attempt,
            "fraction": fraction,
            "message": shown(message[:LONGEST_MESSAGE]),
            "at": self.clock.now(),
        }
        _add(self._progress, _record(claim, PROGRESS, claim.id, document, claim.deadline))
        self._begin_from_any_thread()

    def on_line(self, output: Output) -> None:
        """An attempt under way printed a line, the first since all were looked at; any thread."""
        self._printed.add(output)
        self._begin_from_any_thread()

    def keep_output(self, output: Output, lines: list[Line], *, failed: bool) -> None:
        """Keep what an attempt printed as long as its execution is kept; it has ended."""
        claim = output.claim
        if claim is None:
            return
        now, retention = self.clock.now(), claim.job.retention
        self._printed.discard(output)
        live = self._live.pop(output, None)
        for slot in () if live is None else live.slots:
            # Its end has all that is kept of it: the chunks are no more.
            self._chunks.pop((OUTPUT, output_key(claim.id, claim.attempt, slot)), None)
            _add(self._ends, _lines_record(claim, [], now, slot))
        kept = retention.dead if failed else retention.age
        _add(self._ends, _lines_record(claim, lines, now + kept))
        while len(self._ends) > MOST_WAITING:
            del self._ends[next(iter(self._ends))]
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

    async def read_steps(self, claim: Claim) -> list[Step]:
        """What earlier attempts have done; the first one has none before it."""
        return [] if claim.attempt == 1 else await self.steps.read(claim)

    async def write_step(self, claim: Claim, name: str, value: Any, *, is_final: bool) -> None:
        """Keep a step; returns once it is in the store."""
        await self.steps.write(
            Step(
                execution=claim.id,
                attempt=claim.attempt,
                name=name,
                value=value,
                at=self.clock.now(),
                is_final=is_final,
            )
        )

    async def wait_for(self, claim: Claim, name: str, expires: int) -> tuple[Wait, int]:
        """Ask for an answer, unless that is done; what came of it, and what is left of its time."""
        key = f"{WAIT}{name}"
        now, found = self.clock.now(), await self._find(claim, key)
        asked = {"expires_at": now + expires} if found is None else found.value
        if found is not None and not found.is_final and now >= asked["expires_at"]:
            # The first of them counts: an answer, or the end of its time.
            await self.steps.expire(claim, key, {"expires_at": asked["expires_at"]}, now)
            found = await self._find(claim, key)
        if found is None or not found.is_final:
            await self.write_step(claim, key, asked, is_final=False)
            wait = Wait(name=name, expires_at=asked["expires_at"], ended_at=None)
            return wait, wait.expires_at - now
        return wait_of(found), 0

    async def _find(self, claim: Claim, key: str) -> Step | None:
        steps = await self.steps.read(claim)
        return next((step for step in steps if step.name == key), None)

    async def answer_url(self, claim: Claim, name: str, expires: int) -> str:
        """Ask for an answer, unless that is done; where to post it."""
        if self.url is None:
            raise NotRunning("this process has no address to which an answer could be posted")
        url = self.url(claim.job.project, claim.id, name)
        await self.wait_for(claim, name, expires)
        return url

    async def close(self) -> None:
        """Write what is left, once; a store that is away costs these lines."""
        await self.steps.close()
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        try:
            async with asyncio.timeout(REST):
                self._take_chunks()
                for waiting in (self._ends, self._chunks, self._progress):
                    await self._write(waiting)
        except (TimeoutError, StoreError):
            return

    def _begin_from_any_thread(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._wake.set()
        if self._writer is None or self._writer.done():
            # The first lines wait: by then the attempt may have ended.
            self._lines_due = max(self._lines_due, self.clock.monotonic() + FLUSH)
            self._writer = asyncio.create_task(self._run(), name="tickwell-notes")

    async def _run(self) -> None:
        while self._progress or self._chunks or self._ends or self._printed:
            self._wake.clear()
            try:
                await self._write_due()
            except StoreError:  # reported by the loops, which meet it too
                await self.clock.wait(asyncio.Event(), REST)
            if not self._ends:
                due = self._progress_due if self._progress else float("inf")
                if self._chunks or self._printed:
                    due = min(due, self._lines_due)
                if due < float("inf"):
                    await self.clock.wait(self._wake, due - self.clock.monotonic())

    async def _write_due(self) -> None:
        await self._write(self._ends)
        now = self.clock.monotonic()
        if now >= self._lines_due and (self._chunks or self._printed):
            self._lines_due = now + FLUSH
            self._take_chunks()
            await self._write(self._chunks)
        if now >= self._progress_due and self._progress:
            self._progress_due = now + REST
            await self._write(self._progress)

    def _take_chunks(self) -> None:
        while self._printed:
            output = self._printed.pop()
            claim = output.claim
            live = self._live.setdefault(output, LiveOutput(output))
            chunk = live.take()
            if chunk is None or claim is None:
                continue
            retention = claim.job.retention
            # Nobody knows how it ends, if its worker dies: as long as it may be kept.
            until = self.clock.now() + max(retention.dead, retention.age)
            _add(self._chunks, _lines_record(claim, chunk.lines, until, chunk.slot))

    async def _write(self, waiting: Waiting) -> None:
        while waiting:
            batch = list(waiting.items())[:BATCH]
            await self.store.put_records([record for _, record in batch], self.clock.now())
            for key, record in batch:
                if waiting.get(key) is record:  # not replaced meanwhile
                    del waiting[key]


def _add(waiting: Waiting, record: Record) -> None:
    waiting[record.kind, record.key] = record


def _record(claim: Claim, kind: str, key: str, document: dict[str, Any], expires_at: int) -> Record:
    return Record(
        kind=kind, project=claim.job.project, key=key, document=document, expires_at=expires_at
    )


def _lines_record(
    claim: Claim, lines: Iterable[Line], expires_at: int, slot: int | None = None
) -> Record:
    cleaned = [(number, clean(text)) for number, text in lines]
    document = output_document(claim.attempt, cleaned)
    return _record(claim, OUTPUT, output_key(claim.id, claim.attempt, slot), document, expires_at)
