"""Celery tasks as targets, with a real Redis and a real Celery worker."""

import asyncio
import select
from pathlib import Path

import pytest

from tests.executors.celery.shop import run, scheduler
from tests.executors.running import DEADLINE, until
from tests.servers import redis
from tickwell import Celery, OnDemand, Retry, State, Timeout
from tickwell.domain.execution import ENDED, OutcomeKind
from tickwell.executors.celery.poller import Poller

ONCE = Retry(max_attempts=1)


async def test_a_result_and_what_the_task_learns(shop, tmp_path):
    target = Celery("shop.add", [1, 2], {"a": 1, "b": 2}, queue="billing")
    done = await run(scheduler(shop, tmp_path), target, {"b": 3, "c": None})
    assert (done.state, done.result["args"]) == (State.SUCCEEDED, [1, 2])
    assert done.result["kwargs"] == {"a": 1, "b": 3, "c": None}
    assert shop.ran(done) == [done.id]
    assert done.result["limits"] == [300, 270]
    headers = done.result["headers"]
    assert headers.pop("tickwell-fire-time").endswith("Z")
    expected = {"execution": done.id, "job": done.job_id, "attempt": "1"}
    assert headers == {f"tickwell-{name}": value for name, value in expected.items()}


async def test_a_task_goes_by_an_exchange(shop, tmp_path):
    target = Celery("shop.add", [1], exchange="billing", routing_key="billing")
    done = await run(scheduler(shop, tmp_path), target)
    assert (done.state, shop.ran(done)) == (State.SUCCEEDED, [done.id])


async def test_a_list_as_payload_replaces_the_arguments(shop, tmp_path):
    done = await run(scheduler(shop, tmp_path), Celery("shop.add", [1], {"a": 1}), [7, 8])
    assert (done.result["args"], done.result["kwargs"]) == ([7, 8], {"a": 1})


async def test_a_payload_that_is_neither_is_not_sent(shop, tmp_path):
    done = await run(scheduler(shop, tmp_path), Celery("shop.add"), 7)
    assert (done.state, done.attempt, shop.ran(done)) == (State.DEAD, 1, [])
    assert "an object or a list, not '7'" in done.error


async def test_a_failure_is_kept_with_its_traceback_and_retried_as_another_task(shop, tmp_path):
    retry = Retry(max_attempts=2, delay="0s")
    done = await run(scheduler(shop, tmp_path), Celery("shop.fail", ["gone"]), retry=retry)
    assert (done.state, [each.outcome for each in done.attempts]) == (
        State.DEAD,
        [OutcomeKind.FAILED, OutcomeKind.FAILED],
    )
    assert shop.ran(done) == [done.id, f"{done.id}-2"]
    assert done.error.startswith("Traceback")
    assert done.error.endswith("ValueError: gone")


async def test_a_task_that_no_worker_has_dies_without_another_attempt(shop, tmp_path):
    done = await run(scheduler(shop, tmp_path), Celery("shop.nobody"))
    assert (done.state, done.attempt) == (State.DEAD, 1)
    assert "has no task 'shop.nobody'. Correct the name" in done.error


@pytest.mark.parametrize("settings", [{}, {"result_backend": ""}])
async def test_a_task_that_is_not_awaited_is_marked_as_sent(shop, tmp_path, settings):
    target = Celery("shop.add", wait=bool(settings))
    done = await run(scheduler(shop, tmp_path, **settings), target)
    assert (done.state, done.result) == (State.SUCCEEDED, {"sent": True, "task_id": done.id})


async def test_the_limits_of_the_job_end_the_task(shop, tmp_path):
    timeout = Timeout(soft="1s", hard="100s")
    done = await run(scheduler(shop, tmp_path), Celery("shop.endless"), timeout=timeout, retry=ONCE)
    assert (done.state, done.attempts[0].outcome) == (State.DEAD, OutcomeKind.TIMED_OUT)
    assert "SoftTimeLimitExceeded" in done.error
    assert shop.ran(done) == [done.id]


async def test_a_cancelled_execution_stops_its_task(shop, tmp_path, pipes):
    async with (owner := scheduler(shop, tmp_path, beat="1s")):
        await owner.add_job("job", OnDemand(), Celery("shop.hold", pipes))
        one = await owner.trigger("job")
        await asyncio.to_thread(Path(pipes[0]).read_text)  # it runs
        with await asyncio.to_thread(Path(pipes[1]).open, "w") as go:
            await owner.cancel(one.id)
            done = await until(owner, one)
            await asyncio.to_thread(until_nobody_reads, go)
    assert (done.state, shop.ran(done)) == (State.CANCELLED, [done.id])


def until_nobody_reads(pipe):
    """Wait until the process that reads the pipe is gone."""
    watch = select.poll()
    watch.register(pipe, 0)
    assert watch.poll(DEADLINE * 1000)


async def test_a_worker_that_drains_leaves_the_task_and_the_next_waits_for_it(
    shop, tmp_path, pipes, monkeypatch
):
    owner = scheduler(shop, tmp_path, drain_timeout="0s")
    async with owner:
        await owner.add_job("job", OnDemand(), Celery("shop.hold", pipes))
        one = await owner.trigger("job")
        await asyncio.to_thread(Path(pipes[0]).read_text)  # it runs
    waits, wait = asyncio.Event(), Poller.wait

    def wait_and_tell(*args):
        waits.set()
        return wait(*args)

    monkeypatch.setattr(Poller, "wait", wait_and_tell)
    async with (successor := scheduler(shop, tmp_path)):
        await waits.wait()
        await asyncio.to_thread(Path(pipes[1]).write_text, "done")
        done = await until(successor, one)
        # A second message of the task would have been taken before this one.
        await successor.add_job("after", OnDemand(), Celery("shop.add"))
        await until(successor, await successor.trigger("after"))
    outcomes = [each.outcome for each in done.attempts]
    assert outcomes == [OutcomeKind.RELEASED, OutcomeKind.SUCCEEDED]
    assert (done.result, shop.ran(done)) == ("done", [done.id])


async def test_a_worker_asks_the_rules_again(shop, tmp_path):
    """The job was saved by a process with other rules."""
    async with (saves := scheduler(shop, tmp_path, queues=("other",))):
        await saves.add_job("job", OnDemand(), Celery("shop.add"))
    async with (runs := scheduler(shop, tmp_path, celery_tasks=("default:shop.fail",))):
        one = await runs.trigger("job")
        parked = await until(runs, one, lambda each: each.state in {State.PARKED, *ENDED})
    assert parked.state is State.PARKED
    assert "project 'default' may not send the Celery task 'shop.add'" in parked.explanation
    assert shop.ran(one) == []


@pytest.mark.parametrize(
    ("settings", "target", "why"),
    [
        ({"broker": "", "result_backend": ""}, {}, "set broker and celery_tasks for one"),
        ({"broker": "redis://127.0.0.1:1/0"}, {}, "the broker cannot be reached"),
        ({"result_backend": "redis://127.0.0.1:1/0"}, {}, "the result backend cannot be reached"),
        ({"result_backend": "cache+memory://"}, {}, "names a kind that cannot be read"),
        ({"broker": "locked"}, {}, "refuses the credentials of the setting broker. Correct"),
        ({"broker": "unnamed"}, {}, "refuses the credentials of the setting broker. Correct"),
        ({}, {"queue": "nobody"}, "no queue 'nobody'. Start a Celery worker"),
        ({}, {"exchange": "nowhere", "routing_key": "a"}, "bound to the exchange 'nowhere'"),
        ({}, {"exchange": "celery", "routing_key": "a"}, "bound to the exchange 'celery'"),
    ],
)
async def test_what_cannot_be_sent_is_parked_with_the_reason(shop, tmp_path, settings, target, why):
    if settings.get("broker") in {"locked", "unnamed"}:
        url = redis.server("--requirepass", "right").url
        wrong = settings["broker"] == "locked"
        settings = {"broker": url.replace("//", "//:wrong-word@") if wrong else url}
    owner = scheduler(shop, tmp_path, **settings)
    async with owner:
        await owner.add_job("job", OnDemand(), Celery("shop.add", **target))
        one = await owner.trigger("job")
        parked = await until(owner, one, lambda each: each.state is State.PARKED)
    assert why in parked.explanation
    assert "wrong-word" not in parked.explanation
    assert shop.ran(one) == []
