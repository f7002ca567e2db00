"""Rows in pieces, on the event loop that others share."""

import asyncio

import pytest

from tickwell.stores.sql.flow.pieces import PIECE, in_pieces


@pytest.mark.parametrize("count", [0, 1, PIECE, PIECE + 1, 3 * PIECE])
async def test_all_rows_come_once_and_in_order(count):
    pieces = [piece async for piece in in_pieces(range(count))]
    assert [row for piece in pieces for row in piece] == list(range(count))
    assert all(0 < len(piece) <= PIECE for piece in pieces)


async def test_others_have_their_turn_between_two_pieces():
    turns = []
    async for piece in in_pieces(range(2 * PIECE)):
        turns.append(piece[0])
        asyncio.get_running_loop().call_soon(turns.append, -1)
    assert turns == [0, -1, PIECE]  # -1: somebody else


async def test_pieces_that_an_error_leaves_in_the_midst_leave_no_task_behind():
    with pytest.raises(ZeroDivisionError):
        await _broken()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def _broken():
    async for piece in in_pieces(range(2 * PIECE)):
        raise ZeroDivisionError(piece)
