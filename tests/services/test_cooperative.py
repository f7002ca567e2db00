"""Long work gives way; where several are at it, they share what one would take."""

import asyncio

from tickwell.services import cooperative as pacing
from tickwell.services.cooperative import cooperatively


async def read(items, told):
    async for _ in cooperatively(items):
        told.append(1)


async def most_in_a_turn(several):
    """How many items are worked on in one turn of the event loop."""
    told: list[int] = []
    tasks = [asyncio.create_task(read(range(1000), told)) for _ in range(several)]
    most = before = 0
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
        most, before = max(most, len(told) - before), len(told)
    assert len(told) == 1000 * several
    assert not pacing._under_way
    return most


async def test_several_take_no_more_of_a_turn_than_one():
    assert 0 < await most_in_a_turn(1) <= pacing._PART
    # In the first turn one begins alone, the next beside one, and so on.
    assert await most_in_a_turn(20) <= 4 * pacing._PART
