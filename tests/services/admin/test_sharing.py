"""What API processes tell each other of requests: neither lost nor counted twice."""

import asyncio
import random

from tickwell.services.limits import request_limits as sharing
from tickwell.services.limits.request_limits import EVERY, RequestLimits


def process(office, seed, *, with_key=0):
    limits = RequestLimits(office.clock, without_key=0, with_key=with_key)
    limits.share(office.store, random.Random(seed))
    return limits


async def ask(limits, key="key:x"):
    await limits.exchange()
    asked = limits.known(key)
    assert asked is not None
    return asked


async def test_who_takes_each_as_it_is_refilled_gets_no_more_by_asking_several(office):
    processes = [process(office, seed, with_key=600) for seed in range(2)]
    allowed = []
    for _ in range(2):
        allowed.append(0)
        for _ in range(60 * 20):
            office.clock.instant += EVERY // 20
            for each in processes:
                allowed[-1] += (await ask(each)).allowed
    assert allowed[1] == 600
    assert (await ask(processes[0])).remaining == 0


async def test_nobody_is_counted_twice_who_is_among_the_most_again(office, monkeypatch):
    monkeypatch.setattr(sharing, "MOST", 1)
    one, other = process(office, 1, with_key=100), process(office, 2, with_key=100)
    for key, count in (("key:a", 20), ("key:b", 30), ("key:a", 20)):
        for _ in range(count):
            await ask(one, key)
        office.clock.instant += EVERY
        await one.exchange()
        await other.exchange()
    # 20 and 20 less the first tenth, and what two seconds gave back.
    assert (await ask(other, "key:a")).remaining >= 100 - 30 - 1


async def test_a_slow_store_is_waited_for_by_one_request(office, monkeypatch):
    limits, asked, answer = process(office, 1, with_key=100), asyncio.Event(), asyncio.Event()
    calls = []

    async def slow(*given):
        calls.append(given)
        asked.set()
        if len(calls) == 1:
            await answer.wait()
        return []

    monkeypatch.setattr(office.store, "list_records", slow)
    first = asyncio.create_task(limits.exchange())
    await asked.wait()
    office.clock.instant += 10 * EVERY
    await limits.exchange()
    answer.set()
    await first
    assert len(calls) == 1
    office.clock.instant += EVERY
    await limits.exchange()
    assert len(calls) == 2


async def test_where_nothing_is_limited_the_store_is_not_asked(office):
    await process(office, 1).exchange()
    assert office.store.calls == 0
