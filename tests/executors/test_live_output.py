"""Lines of an attempt are in the store while it runs, whatever it runs in."""

import asyncio
import threading
from typing import Any

import pytest

from tests.executors import live_handlers
from tests.executors.running import DEADLINE, until
from tickwell import Scheduler
from tickwell.declared.internals import internals
from tickwell.domain.execution import Claim, Kind
from tickwell.domain.job import Job
from tickwell.domain.note import MOST_LINES, OUTPUT, Output, output_document, output_key, outputs_of
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreUnavailable
from tickwell.executors import output as executor
from tickwell.executors.live_output import CHUNK_LINES, Chunk, LiveOutput
from tickwell.executors.notes import FLUSH, StoreNotes
from tickwell.stores.memory import MemoryStore
from tickwell.testing.clock import ManualClock


class Telling(MemoryStore):
    """A store that tells when records were put."""

    def __init__(self, now):
        super().__init__(now)
        self.puts = []
        self.put = asyncio.Event()

    async def put_records(self, records, now):
        await super().put_records(records, now)
        self.puts.append([record.key for record in records])
        self.put.set()


async def lines_of(scheduler, id, expected, attempt=1):
    """Wait until the store has these lines: by the writes of the worker, not by the clock."""
    store: Any = internals(scheduler).store
    put, changed = store.put_records, asyncio.Event()

    async def put_and_tell(records, now):
        await put(records, now)
        changed.set()

    store.put_records = put_and_tell
    async with asyncio.timeout(DEADLINE):
        while True:
            changed.clear()
            found = {each.attempt: each.lines for each in await scheduler.output(id)}
            if found.get(attempt) == expected:
                return
            await changed.wait()


@pytest.mark.parametrize("where", ["loop", "thread", "process"])
async def test_a_line_is_read_while_its_attempt_runs(where, tmp_path):
    scheduler, let_go = Scheduler(f"sqlite:///{tmp_path}/jobs.db"), threading.Event()

    @scheduler.job()
    async def loop() -> None:
        print("in the loop")  # noqa: T201
        await asyncio.to_thread(let_go.wait)
        print("the end")  # noqa: T201

    @scheduler.job()
    def thread() -> None:
        print("in a thread")  # noqa: T201
        let_go.wait()
        print("the end")  # noqa: T201

    handlers: dict[str, tuple[Any, str]] = {
        "loop": (loop, "in the loop"),
        "thread": (thread, "in a thread"),
        "process": (scheduler.job(isolation="process")(live_handlers.talk), "in a process"),
    }
    job, line = handlers[where]
    async with scheduler:
        one = await job.trigger()
        await lines_of(scheduler, one.id, (line,))
        assert (await scheduler.get_execution(one.id)).state == "running"
        if where == "process":
            await scheduler.cancel(one.id)
        let_go.set()
        await until(scheduler, one)
        await lines_of(scheduler, one.id, (line, "the end"))


def a_claim(number=0):
    job = Job(id="j", name="j", trigger=OnDemand(), target=Call("x"))
    id = f"execution-{number}"
    return Claim(id, job, Kind.REQUEST, 1, 1, 0, 0, 0, 0, None, 1_000_000, "w", "c")


@pytest.fixture
async def notes():
    clock = ManualClock()
    found = StoreNotes(Telling(clock.now), clock)
    found.attach()
    return found


def an_output(notes, number=0):
    return executor.Output(None, notes.on_line, a_claim(number))


async def flushed(notes, clock):
    """Let the writer come to its next write."""
    for _ in range(5):
        await asyncio.sleep(0)
    await clock.advance(FLUSH)
    for _ in range(20):
        await asyncio.sleep(0)


async def test_all_attempts_of_a_worker_share_a_write(notes):
    outputs = [an_output(notes, number) for number in range(100)]
    for second in range(3):
        for output in outputs:
            for number in range(5):
                output.add(f"{second} {number}")
        await flushed(notes, notes.clock)
    assert [len(keys) for keys in notes.store.puts] == [100, 100, 100]


async def test_an_attempt_that_ends_soon_is_written_once(notes):
    output = an_output(notes)
    output.add("only")
    notes.keep_output(output, output.close(), failed=False)
    await flushed(notes, notes.clock)
    assert notes.store.puts == [["execution-0/00000001"]]


async def test_the_end_takes_the_place_of_the_chunks(notes):
    output = an_output(notes)
    for number in range(3 * CHUNK_LINES):
        output.add(f"line {number}")
        if number % 10 == 0:
            await flushed(notes, notes.clock)
    now, prefix = notes.clock.now(), "execution-0/"
    assert len(await notes.store.list_records(OUTPUT, "default", prefix, now)) > 1
    notes.keep_output(output, output.close(), failed=True)
    await flushed(notes, notes.clock)
    now = notes.clock.now()
    [whole] = await notes.store.list_records(OUTPUT, "default", prefix, now)
    assert whole.key == "execution-0/00000001"
    assert len(whole.document["lines"]) == 3 * CHUNK_LINES


async def test_lines_wait_for_a_store_that_is_away(notes, monkeypatch):
    async def away(_records, _now):
        raise StoreUnavailable("away")

    output = an_output(notes)
    output.add("one")
    with monkeypatch.context() as patch:
        patch.setattr(notes.store, "put_records", away)
        await flushed(notes, notes.clock)
    output.add("two")
    await notes.close()
    [chunk] = await notes.store.list_records(OUTPUT, "default", "", notes.clock.now())
    assert chunk.document["lines"] == ["one", "two"]


def read(chunks):
    """What a reader makes of the newest chunk of each slot."""
    slots = {chunk.slot: chunk.lines for chunk in chunks if chunk is not None}
    [found] = outputs_of(
        (output_key("x", 1, slot), output_document(1, lines)) for slot, lines in slots.items()
    )
    return found, len(slots)


@pytest.mark.parametrize("at_once", [1, 7, CHUNK_LINES, 150, 450])
def test_chunks_make_the_same_lines_as_the_end(at_once):
    output = executor.Output()
    live, chunks = LiveOutput(output), list[Chunk | None]()
    for number in range(1, 1001):
        output.add(f"line {number}")
        if number % at_once == 0:
            chunks.append(live.take())
    chunks.append(live.take())
    found, slots = read(chunks)
    lines = output.snapshot()
    assert found == Output(attempt=1, first=lines[0][0], lines=tuple(text for _, text in lines))
    assert len(found.lines) == MOST_LINES
    assert slots <= 2 * MOST_LINES // CHUNK_LINES
    written = sum(len(chunk.lines) for chunk in chunks if chunk is not None)
    assert written <= 1000 * CHUNK_LINES  # bounded by the size of a chunk, not by what was printed


def test_a_gap_ends_what_is_read():
    keys = [(output_key("x", 1, 0), output_document(1, [(0, "a"), (1, "b")]))]
    keys.append((output_key("x", 1, 1), output_document(1, [(5, "f")])))
    assert outputs_of(keys) == [Output(attempt=1, first=5, lines=("f",))]


def test_lines_are_read_from_a_number_on():
    output = Output(attempt=1, first=3, lines=("d", "e"))
    assert output.after(0) == output
    assert output.after(4) == Output(attempt=1, first=4, lines=("e",))
    assert output.after(5).lines == ()
