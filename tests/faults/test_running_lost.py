"""A worker is killed while an attempt runs: its start and its lines are on record."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.servers.schemas import empty, url
from tickwell import Scheduler, Settings
from tickwell.domain.execution import OutcomeKind
from tickwell.events import Recovered

ROOT = Path(__file__).parent.parent.parent
#: Tells on its standard error what has reached the store.
WORKER = """
import asyncio, sys
from tickwell import Retry, Scheduler
from tickwell.declared.internals import internals

scheduler = Scheduler(sys.argv[1])

@scheduler.job(retry=Retry(max_attempts=1, max_losses=1))
async def talk() -> None:
    for number in range(3):
        print("line", number)
    await asyncio.Event().wait()

async def main() -> None:
    async with scheduler:
        store = internals(scheduler).store
        for name in ("record_starts", "put_records"):
            def telling(name=name, call=getattr(store, name)):
                async def told(*given):
                    answer = await call(*given)
                    print(name, file=sys.stderr, flush=True)
                    return answer
                return told
            setattr(store, name, telling())
        execution = await talk.trigger()
        print("id", execution.id, file=sys.stderr, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request, tmp_path):
    if request.param == "postgres":
        await empty("killed")
        return url("killed")
    return f"sqlite:///{tmp_path}/jobs.db"


def run_and_kill(store_url):
    """The id of the execution that ran in a worker which was killed."""
    command = [sys.executable, "-c", WORKER, store_url]
    worker = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert worker.stderr is not None
    watchdog = threading.Timer(100, worker.kill)
    watchdog.start()
    id, awaited = None, {"record_starts", "put_records"}
    for line in worker.stderr:
        words = line.split()
        if words[:1] == ["id"]:
            id = words[1]
        awaited.discard(line.strip())
        if id is not None and not awaited:
            break
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    worker.stderr.close()
    watchdog.cancel()
    assert not awaited
    return id


async def test_its_start_and_its_lines_are_on_record(store):
    id = await asyncio.to_thread(run_and_kill, store)
    scheduler = Scheduler(store, settings=Settings(sweep="100ms"))
    recovered = asyncio.Event()
    scheduler.on(Recovered)(recovered.set)
    async with scheduler, asyncio.timeout(100):
        await recovered.wait()
        execution = await scheduler.get_execution(id)
        outputs = await scheduler.output(id)
    [attempt] = execution.attempts
    assert attempt.outcome is OutcomeKind.LOST
    assert attempt.started_at is not None
    assert execution.created_at <= attempt.started_at <= attempt.ended_at
    assert [each.lines for each in outputs] == [("line 0", "line 1", "line 2")]
