"""Reads take gate, and none waits for ever."""

import asyncio

import pytest

from tickwell.api.http import read_gate as module
from tickwell.api.http.read_gate import ReadGate


@pytest.fixture
def gate():
    return ReadGate()


async def come(gate, name, order):
    admitted = await gate.enter()
    order.append(name)
    return admitted


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def for_long(monkeypatch):
    """Nobody is let in but by whoever goes."""
    monkeypatch.setattr(module, "PATIENCE", 3600)


async def test_one_after_the_other_in_the_order_of_coming(gate, for_long):
    order = list[int]()
    first = await come(gate, 0, order)
    others = [asyncio.create_task(come(gate, number, order)) for number in (1, 2)]
    await settle()
    assert order == [0]
    first.end()
    first.end()
    await settle()
    assert order == [0, 1]
    (await others[0]).end()
    (await others[1]).end()
    (await gate.enter()).end()


async def test_whoever_goes_away_is_passed_over(gate, for_long):
    order = list[int]()
    first = await come(gate, 0, order)
    gone, called, last = [asyncio.create_task(come(gate, n, order)) for n in (1, 2, 3)]
    await settle()
    gone.cancel()
    await settle()
    first.end()
    called.cancel()  # it is its turn, and it does not know yet
    (await last).end()
    assert order == [0, 3]
    await asyncio.gather(gone, called, return_exceptions=True)


async def test_one_that_waits_for_its_store_lets_others_in(gate):
    held = [await gate.enter() for _ in range(3)]
    for admitted in held:
        admitted.end()


async def test_a_busy_loop_is_not_given_more_to_do_for_a_while(gate, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0)
    monkeypatch.setattr(module, "LATE", -1)  # every timer is later than that
    first = await gate.enter()
    (await gate.enter()).end()
    assert first._checks == 0


def test_a_loop_that_has_ended_gives_nothing_back(gate):
    asyncio.run(gate.enter())
    asyncio.run(gate.enter())
