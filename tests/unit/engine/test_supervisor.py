"""Processes that are kept running, whatever the event loop."""

import asyncio
import os

from tickwell.clock import StoreClock
from tickwell.domain.event import Event, Events, ProcessEnded
from tickwell.engine.supervisor import Supervisor
from tickwell.wiring import loop_factory


def test_a_process_is_started_without_running_python_in_a_copy_of_this_one(tmp_path):
    copies = [tmp_path / "copied"]
    os.register_at_fork(after_in_child=lambda: [copy.touch() for copy in copies])
    heard: list[Event] = []

    async def keep():
        events, ended = Events(), asyncio.Event()
        events.subscribe(heard.append)
        events.subscribe(lambda _: ended.set())
        supervisor = Supervisor(["sh", "-c", "exit 7"], 1, StoreClock(), events)
        await supervisor.start()
        await ended.wait()
        await supervisor.stop(60)
        assert supervisor.alive == 0

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(keep())
    [copied] = copies
    copies.clear()
    assert isinstance(heard[0], ProcessEnded)
    assert heard[0].code == 7
    assert not copied.exists()


async def test_who_has_not_ended_in_time_is_killed():
    supervisor = Supervisor(["sh", "-c", "trap '' TERM; exec sleep 600"], 2, StoreClock(), Events())
    await supervisor.start()
    await asyncio.sleep(0)  # each begins in its first step
    assert supervisor.alive == 2
    await supervisor.stop(0)
    assert supervisor.alive == 0


async def test_the_end_of_its_standard_input_tells_a_process_that_it_is_orphaned():
    supervisor = Supervisor(["cat"], 1, StoreClock(), Events())
    await supervisor.start()
    await asyncio.sleep(0)  # it begins in its first step
    [process] = supervisor.processes.values()
    assert process.stdin is not None
    assert not os.get_inheritable(process.stdin.fileno())
    assert process.poll() is None
    process.stdin.close()
    assert process.wait() == 0
    await supervisor.stop(60)
