"""Python handlers through a real engine: async ones, and sync ones in threads."""

import asyncio
import signal
import threading
from contextvars import ContextVar

import pytest

from tests.executors.http.conftest import a_claim
from tests.unit.engine.rig import Rig
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.policy import Retry, Timeout
from tickwell.domain.target import Call
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.executors.run import Run
from tickwell.testing.executors import succeeds


@pytest.fixture
def handle():
    """A rig with one handler, and an execution of it under way."""

    async def start(function, payload=None, **options):
        handlers = Handlers()
        handlers.add("handler", function)
        rig = Rig(executor=CallExecutor(handlers), threads=1)
        job = await rig.add(handler="handler", payload=payload, **options)
        rig.id = await rig.request(job)
        await rig.beat()
        await rig.worker.step()
        return rig

    return start


async def until(condition):
    """Threads are real: give them the time that they take."""
    async with asyncio.timeout(100):
        while not condition():  # noqa: ASYNC110 - a thread sets no event of ours
            await asyncio.sleep(0.001)


async def ended(rig):
    await until(lambda: rig.reporter.backlog)
    await rig.reporter.step()
    return await rig.one(rig.id)


async def test_an_async_handler_gets_its_payload_by_name(handle):
    async def add(a, b):
        return a + b

    one = await ended(await handle(add, {"a": 2, "b": 3}))
    assert (one.state, one.result) == (State.SUCCEEDED, 5)


async def test_a_sync_handler_runs_in_a_thread(handle):
    def where():
        return threading.current_thread().name

    one = await ended(await handle(where))
    assert (one.state, one.result) == (State.SUCCEEDED, "tickwell-handler")


async def test_wrong_arguments_fail_at_once_with_a_clear_sentence_and_no_retry(handle):
    async def send(to):
        pass

    one = await ended(await handle(send, {"recipient": "x"}, retry=Retry(max_attempts=5)))
    assert (one.state, one.attempt) == (State.DEAD, 1)
    assert one.error == (
        "payload: handler 'handler' cannot be called so: it takes no 'recipient' and it needs 'to'."
        " Its parameters are (to)"
    )
    assert one.reason == "not to be retried"


async def test_a_payload_without_names_is_explained(handle):
    one = await ended(await handle(lambda x: x, [1, 2]))
    assert "takes named arguments, the payload is list" in one.error
    assert one.state is State.DEAD


async def test_what_a_handler_raises_is_kept_with_its_traceback_and_retried(handle):
    def explode():
        raise KeyError("the cause")

    one = await ended(await handle(explode))
    assert one.attempts[0].outcome is OutcomeKind.FAILED
    assert one.error.endswith("KeyError: 'the cause'")
    assert "in explode" in one.error
    assert one.state is State.WAITING


async def test_system_exit_in_a_thread_is_a_failed_attempt_and_the_process_lives(handle):
    def leave():
        raise SystemExit(3)

    one = await ended(await handle(leave))
    assert one.attempts[0].outcome is OutcomeKind.FAILED
    assert "SystemExit(3)" in one.error


async def test_an_interrupt_that_a_handler_raises_is_a_failed_attempt_too(handle):
    async def interrupt():
        raise KeyboardInterrupt

    one = await ended(await handle(interrupt))
    assert one.attempts[0].outcome is OutcomeKind.FAILED
    assert one.error.endswith("KeyboardInterrupt")


async def test_an_interrupt_by_a_person_who_has_no_other_way_to_stop_is_passed_on(monkeypatch):
    async def interrupt():
        raise KeyboardInterrupt

    handlers = Handlers()
    handlers.add("handler", interrupt)
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        await CallExecutor(handlers).run(a_claim(Call("handler")))


async def test_half_characters_that_a_handler_returns_or_raises_are_replaced(handle):
    async def give():
        return {"half\ud800": ["\udfff", "whole é"]}

    async def fail():
        raise ValueError("half \ud800")

    one = await ended(await handle(give))
    assert one.result == {"half?": ["?", "whole é"]}
    one = await ended(await handle(fail))
    assert one.error.endswith("ValueError: half ?")


async def test_a_sync_handler_sees_that_it_was_cancelled(handle):
    begun = threading.Event()

    def patient(run: Run):
        begun.set()
        while not run.cancelled:
            pass
        return "stopped"

    rig = await handle(patient)
    await asyncio.to_thread(begun.wait, 100)
    rig.runner.cancel(rig.id, 1)
    one = await ended(rig)
    assert one.state in {State.CANCELLED, State.SUCCEEDED}


async def test_a_thread_that_hangs_ends_on_record_and_keeps_its_slot(handle):
    let_go = threading.Event()

    def hang():
        let_go.wait(100)

    timeout = Timeout(soft="1s", hard="2s")
    rig = await handle(hang, timeout=timeout, retry=Retry(max_attempts=1))
    await rig.settle()
    for _ in range(25):
        await rig.clock.advance(0.1)
        await rig.runner.deadlines.step()
    one = await ended(rig)
    assert one.attempts[0].outcome is OutcomeKind.TIMED_OUT
    lane = next(lane for lane in rig.worker.lanes if lane.busy)
    assert (lane.name, lane.abandoned, lane.room()) == ("thread", 1, 0)
    let_go.set()
    await until(lambda: not lane.busy)
    assert lane.abandoned == 0


async def test_a_set_is_stored_as_a_list(handle):
    async def odd():
        return {1, 2}

    one = await ended(await handle(odd))
    assert one.result == [1, 2]


async def test_no_attempt_sees_what_another_has_set_in_its_context():
    shop: ContextVar[str | None] = ContextVar("shop", default=None)
    seen = []

    async def act(claim):
        seen.append(shop.get())
        shop.set(claim.id)
        return succeeds()

    rig = Rig(capacity=1, lead=0.5)
    rig.executor.script("quick", act)
    job = await rig.add()
    for _ in range(3):
        await rig.request(job)
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    assert seen == [None] * 3
