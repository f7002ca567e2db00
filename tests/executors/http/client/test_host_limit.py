"""HostLimit at a host."""

import asyncio

import pytest

from tickwell.executors.http.client.host_limit import PATIENCE, HostLimit


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def places(now):
    return HostLimit(2, lambda: now[0])


def at_once(coroutine):
    """The result of what need not wait."""
    with pytest.raises(StopIteration) as ended:
        coroutine.send(None)
    return ended.value.value


async def test_as_many_as_there_are_places_enter_at_once(places):
    assert at_once(places.enter("a", patient=False))
    assert at_once(places.enter("a", patient=False))
    assert at_once(places.enter("b", patient=False))


async def test_the_next_enters_when_one_leaves_in_order_of_arrival(places):
    for _ in range(2):
        await places.enter("a", patient=False)
    order = []

    async def enter(name):
        assert await places.enter("a", patient=True)
        order.append(name)

    waiting = [asyncio.create_task(enter(name)) for name in "xyz"]
    await asyncio.sleep(0)
    for _ in range(3):
        places.leave("a")
    await asyncio.gather(*waiting)
    assert order == ["x", "y", "z"]


async def test_who_comes_while_nobody_moves_is_sent_away_at_once(places, now):
    for _ in range(2):
        await places.enter("a", patient=False)
    now[0] = PATIENCE
    assert at_once(places.enter("a", patient=False)) is False
    patient = asyncio.create_task(places.enter("a", patient=True))
    await asyncio.sleep(0)
    places.leave("a")
    assert await patient


async def test_a_place_that_is_given_to_one_who_has_gone_goes_on(places):
    for _ in range(2):
        await places.enter("a", patient=False)
    first, second = (asyncio.create_task(places.enter("a", patient=True)) for _ in range(2))
    await asyncio.sleep(0)
    places.leave("a")
    first.cancel()  # its turn has come, and it does not know yet
    assert await second
    assert first.cancelled()


async def test_nothing_is_remembered_of_a_host_that_nobody_is_at(places):
    for _ in range(2):
        await places.enter("a", patient=False)
    gone = asyncio.create_task(places.enter("a", patient=True))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone])
    for _ in range(2):
        places.leave("a")
    assert places._lines == {}
