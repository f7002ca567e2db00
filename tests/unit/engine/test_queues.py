"""A paused queue is left alone, within a second, and taken from again."""

from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.engine.claiming.open_queues import OpenQueues
from tickwell.ports.records import Record
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock


async def test_pauses_are_seen_within_a_second():
    store, clock = MemoryStore(), ManualClock()
    await store.open()
    queues = OpenQueues(store, clock, ("a", "b"))
    assert await queues.look() == ("a", "b")
    assert queues.rest == float("inf")
    pause = Record(kind=PAUSE_KIND, project=PAUSE_PROJECT, key="a", document={})
    await store.put_record(pause, clock.now())
    assert await queues.look() == ("a", "b")
    await clock.advance(1)
    assert await queues.look() == ("b",)
    assert queues.rest == 1.0
    await store.delete_record(PAUSE_KIND, PAUSE_PROJECT, "a")
    await clock.advance(1)
    assert await queues.look() == ("a", "b")
