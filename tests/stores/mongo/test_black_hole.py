"""A connection that died without a word is closed with the call that found out."""

from tests.stores.black_hole import FEW, most_sockets


async def test_calls_that_are_given_up_leave_no_sockets(place):
    assert await most_sockets(place) <= FEW
