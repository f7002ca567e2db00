"""Callers that ask at once share one read, and its answer for the TTL."""

import asyncio

from tickwell import shared_read
from tickwell.shared_read import SharedRead
from tickwell.testing import ManualClock


class Source:
    """Answers with the number of the read, when it may."""

    def __init__(self):
        self.reads = 0
        self.may = asyncio.Event()
        self.may.set()

    async def read(self):
        self.reads += 1
        await self.may.wait()
        return self.reads


async def test_callers_that_ask_at_once_share_one_read():
    cache, source = SharedRead[str, int](ManualClock(0), 1.0), Source()
    source.may.clear()
    asking = [asyncio.create_task(cache.get("a", source.read)) for _ in range(3)]
    await asyncio.sleep(0)
    source.may.set()
    assert await asyncio.gather(*asking) == [1, 1, 1]


async def test_an_answer_is_read_again_after_its_ttl():
    clock, source = ManualClock(0), Source()
    cache = SharedRead[str, int](clock, 1.0)
    found = []
    for rest in (0.0, 0.9, 0.1):
        await clock.advance(rest)
        found.append(await cache.get("a", source.read))
    assert found == [1, 1, 2]
    assert await cache.get("b", source.read) == 3


async def test_a_caller_that_gives_up_leaves_the_read_to_the_next():
    cache, source = SharedRead[str, int](ManualClock(0), 1.0), Source()
    source.may.clear()
    first = asyncio.create_task(cache.get("a", source.read))
    second = asyncio.create_task(cache.get("a", source.read))
    await asyncio.sleep(0)
    first.cancel()
    source.may.set()
    assert await second == 2


async def test_no_more_than_so_many_answers_are_remembered(monkeypatch):
    monkeypatch.setattr(shared_read, "MOST", 2)
    cache, source = SharedRead[int, int](ManualClock(0), 1.0), Source()
    for key in range(5):
        await cache.get(key, source.read)
    assert len(cache._known) <= 2
