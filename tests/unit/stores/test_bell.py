"""Closing a bell loses no ring: neither one that is due nor one that is being sent."""

import asyncio

import pytest

from tickwell.stores import bell as bells


class HeldBell(bells.Bell):
    """A ring takes as long as the test wants."""

    trouble = (OSError,)

    def __init__(self):
        super().__init__()
        self.began, self.may_end = asyncio.Event(), asyncio.Event()
        self.sent = self.cancelled = 0

    async def send(self):
        self.began.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.sent += 1


@pytest.fixture
def bell():
    return HeldBell()


async def test_a_ring_that_is_being_sent_ends_by_itself(bell):
    bell.ring()
    await bell.began.wait()
    closing = asyncio.create_task(bell.close())
    bell.may_end.set()
    await closing
    assert (bell.sent, bell.cancelled) == (1, 0)


async def test_a_ring_that_is_due_is_sent_at_once(bell, monkeypatch):
    monkeypatch.setattr(bells, "GATHER", 1000)
    bell.may_end.set()
    bell.ring()
    await bell.close()
    assert bell.sent == 1


async def test_a_ring_during_the_last_one_is_sent_too(bell, monkeypatch):
    monkeypatch.setattr(bells, "APART", 1000)
    bell.ring()
    await bell.began.wait()
    bell.ring()
    bell.may_end.set()
    await bell.close()
    assert bell.sent == 2


async def test_a_server_that_never_answers_does_not_hold_up_closing(bell, monkeypatch):
    monkeypatch.setattr(bells, "PATIENCE", 0)
    bell.ring()
    await bell.began.wait()
    await bell.close()
    assert (bell.sent, bell.cancelled) == (0, 1)


async def test_closing_without_a_ring_sends_nothing(bell):
    await bell.close()
    assert not bell.began.is_set()
