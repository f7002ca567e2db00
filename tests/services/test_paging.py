"""Pages that end because of their bytes, or of what they passed over."""

import pytest

from tickwell.ports.records import JobFilter, Page
from tickwell.services.operations.paging import LOOK, MOST_BYTES, STEP, read_page

MIB = 1024 * 1024


class Numbers:
    """A list of sizes; each call to it is noted."""

    def __init__(self, *sizes):
        self.sizes = sizes
        self.calls = []

    async def read(self, where, cursor, limit):
        start = int(cursor or 0)
        self.calls.append((start, limit, where.look))
        end = min(start + limit, len(self.sizes))
        items = [*self.sizes[start:end]]
        return Page(items=items, cursor=str(end) if end < len(self.sizes) else None)

    async def page(self, cursor=None, limit=1000):
        return await read_page(self.read, JobFilter(), cursor, limit, lambda size: size)


async def test_small_ones_are_all_there_and_a_usual_page_is_one_read():
    numbers = Numbers(*[1] * 1500)
    assert (await numbers.page(limit=100)).cursor == "100"
    assert numbers.calls == [(0, 100, LOOK)]
    page = await numbers.page()
    assert (len(page.items), page.cursor) == (1000, "1000")
    assert len(numbers.calls) == 11
    assert sum(look for _, _, look in numbers.calls[1:]) == LOOK
    last = await numbers.page(page.cursor)
    assert (len(last.items), last.cursor) == (500, None)


@pytest.mark.parametrize(
    "sizes",
    [[MIB] * 60, [1] * 150 + [MIB] * 60, [MOST_BYTES + 1] * 3, [0] * 100 + [MOST_BYTES] * 2],
)
async def test_large_ones_are_all_there_page_by_page(sizes):
    numbers, found, cursor = Numbers(*sizes), [], None
    while True:
        page = await numbers.page(cursor)
        assert sum(page.items) <= MOST_BYTES or len(page.items) == 1
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
        assert page.items
    assert found == sizes
    assert max(limit for _, limit, _ in numbers.calls) == STEP


async def test_steps_that_find_little_look_no_further_than_one_would():
    looked = []

    async def read(where, cursor, limit):
        looked.append(where.look)
        return Page(items=[1] if len(looked) == 2 else [], cursor="more")

    page = await read_page(read, JobFilter(), None, 1000, lambda size: size)
    assert (page.items, page.cursor) == ([1], "more")
    assert sum(looked) == LOOK
