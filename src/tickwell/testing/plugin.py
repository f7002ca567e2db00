"""The pytest plugin: `tickwell`, `tickwell_blocking` and `tickwell_receiver`. Needs only pytest.

A test that takes `tickwell` may be `async def` without any further plugin; with pytest-asyncio or
anyio it runs in their loop.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Generator, Iterator
from typing import Any

import pytest

from tickwell.testing.blocking_kit import BlockingKit
from tickwell.testing.kit import Kit
from tickwell.testing.receiver import Receiver


@pytest.fixture
def tickwell() -> Iterator[Kit]:
    """A real scheduler in memory, in a time that moves only when the test says so."""
    kit = Kit()
    yield kit
    kit.restore()


@pytest.fixture
def tickwell_blocking() -> Iterator[BlockingKit]:
    """The same for tests without an event loop: calls block."""
    with BlockingKit() as kit:
        yield kit


@pytest.fixture
def tickwell_receiver() -> Iterator[Receiver]:
    """A receiver of webhooks that keeps what it gets."""
    with Receiver() as receiver:
        yield receiver


def _kit_of(item: pytest.Item) -> Kit | None:
    found = getattr(item, "funcargs", {}).get("tickwell")
    return found if isinstance(found, Kit) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Whatever runs the test stops the kit in the same event loop."""
    kit, test = _kit_of(item), getattr(item, "obj", None)
    if kit is None or not inspect.iscoroutinefunction(test):
        return (yield)
    item.obj = _within(kit, test)  # type: ignore[attr-defined]
    try:
        return (yield)
    finally:
        item.obj = test  # type: ignore[attr-defined]


def _within(kit: Kit, test: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
    @functools.wraps(test)
    async def run(*args: Any, **kwargs: Any) -> object:
        async with kit:
            return await test(*args, **kwargs)

    return run


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test that no other plugin runs."""
    test = pyfuncitem.obj
    if _kit_of(pyfuncitem) is None or not inspect.iscoroutinefunction(test):
        return None
    if pyfuncitem.get_closest_marker("anyio") is not None:
        return None
    names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - as other plugins do
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    with asyncio.Runner() as runner:
        runner.run(test(**arguments))
    return True
