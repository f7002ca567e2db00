"""Executions of a scheduler's jobs, followed to their end on its own events."""

import asyncio

from tickwell import State
from tickwell.domain.execution import ENDED

DEADLINE = 100


async def until(scheduler, execution, found=lambda one: one.state in ENDED):
    """Read an execution again at every event until it is as wanted."""
    changed = asyncio.Event()
    forget = scheduler.subscribe(lambda _: changed.set())
    try:
        async with asyncio.timeout(DEADLINE):
            while True:
                changed.clear()
                one = await scheduler.get_execution(execution.id)
                if found(one):
                    return one
                await changed.wait()
    finally:
        forget()


async def run_to_end(scheduler, function, *args, **kwargs):
    """Run a declared function as a job; its execution once it has ended."""
    async with scheduler:
        return await until(scheduler, await function.trigger(*args, **kwargs))


def attempted(one):
    """Whether an attempt has ended."""
    return bool(one.attempts)


__all__ = ["DEADLINE", "State", "attempted", "run_to_end", "until"]
