"""The same results by a database and by RPC, with real servers and Celery workers."""

import asyncio
from pathlib import Path

import pytest

from tests.executors.celery.shop import run, scheduler, worker
from tests.servers import rabbitmq, redis
from tickwell import Celery, OnDemand, Retry, State
from tickwell.clock import StoreClock
from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.job import Job
from tickwell.executors.celery.executor import CeleryExecutor
from tickwell.executors.celery.marks import Marks
from tickwell.stores.memory import MemoryStore

ONCE = Retry(max_attempts=1)


@pytest.fixture(scope="module", params=["database", "rpc"])
def shop(request, tmp_path_factory):
    if request.param == "rpc":
        broker, backend = rabbitmq.server().url, "rpc://"
    else:
        file = tmp_path_factory.mktemp("results") / "results.db"
        broker, backend = redis.server().url, f"db+sqlite:///{file}"
    with worker(broker, backend, "--pool=threads", "--concurrency=2") as found:
        yield found


async def test_a_result(shop, tmp_path):
    done = await run(scheduler(shop, tmp_path), Celery("shop.add", [1, {"a": [2]}]))
    assert (done.state, done.result["args"]) == (State.SUCCEEDED, [1, {"a": [2]}])
    assert shop.ran(done) == [done.id]


async def test_a_failure(shop, tmp_path):
    done = await run(scheduler(shop, tmp_path), Celery("shop.fail"), retry=ONCE)
    assert (done.state, done.error.splitlines()[-1]) == (State.DEAD, "ValueError: no such order")
    assert shop.ran(done) == [done.id]


async def test_a_task_that_no_worker_has(shop, tmp_path):
    done = await run(scheduler(shop, tmp_path), Celery("shop.nobody"))
    assert (done.state, done.attempt) == (State.DEAD, 1)
    assert "has no task 'shop.nobody'" in done.error


async def test_a_queue_that_no_worker_has_declared(shop, tmp_path):
    async with (owner := scheduler(shop, tmp_path)):
        await owner.add_job("job", OnDemand(), Celery("shop.add", queue="nobody"))
        parked = asyncio.Event()
        owner.subscribe(lambda event: parked.set() if type(event).__name__ == "Parked" else None)
        one = await owner.trigger("job")
        await parked.wait()
        assert "no queue 'nobody'" in (await owner.get_execution(one.id)).explanation


async def test_an_attempt_after_a_lost_one_waits_for_its_task(shop, pipes, monkeypatch):
    store, clock, marked = MemoryStore(), StoreClock(), asyncio.Event()
    await store.open()
    put = store.put_record

    async def put_and_tell(*args):
        await put(*args)
        marked.set()
        return True

    monkeypatch.setattr(store, "put_record", put_and_tell)
    job = Job(id="j", name="job", trigger=OnDemand(), target=Celery("shop.hold", pipes))

    def executor():
        return CeleryExecutor(clock, Marks(store, clock), shop.broker, shop.backend, ["*:*"])

    first, second = executor(), executor()
    lost = asyncio.create_task(first.run(claim(job, 1)))
    await asyncio.to_thread(Path(pipes[0]).read_text)  # it runs
    await marked.wait()
    lost.cancel(OutcomeKind.LOST)
    await asyncio.gather(lost, return_exceptions=True)
    await first.close()
    again = asyncio.create_task(second.run(claim(job, 2)))
    await asyncio.to_thread(Path(pipes[1]).write_text, "done")
    outcome = await again
    await second.close()
    assert (outcome.kind, outcome.result) == (OutcomeKind.SUCCEEDED, "done")
    assert shop.journal.read_text().split().count("execution") == 1


def claim(job, attempt):
    return Claim(
        "execution", job, Kind.REQUEST, attempt, 1, 0, 0, 0, 0, None, 2**40, "worker", "claim"
    )
