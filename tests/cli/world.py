"""A store with a past: runs that succeeded and runs that died, made by the real engine."""

import asyncio

from tickwell import Retry, Scheduler
from tickwell.events import AttemptsFinished

#: Requested runs: these end well, these die of one of two things.
GOOD, BAD = 2, 5


def _scheduler(url):
    scheduler = Scheduler(url)
    once = Retry(max_attempts=1)

    @scheduler.job()
    async def greet(name: str = "you") -> str:
        return f"Hello, {name}!"

    @scheduler.job(retry=once)
    def broken(number: int = 0) -> None:
        if number == BAD - 1:
            raise KeyError("other")
        raise ValueError(f"no order {number} \x1b[31m\n<b>")

    return scheduler


async def _run(url, requests):
    scheduler, ended = _scheduler(url), asyncio.Event()
    count = 0

    def listen(event):
        nonlocal count
        if isinstance(event, AttemptsFinished):
            count += len(event.reports)
            if count >= len(requests):
                ended.set()

    scheduler.subscribe(listen)
    async with scheduler:
        for name, payload in requests:
            await scheduler.trigger(name, payload)
        async with asyncio.timeout(100):
            await ended.wait()


def make_past(url="sqlite:///tickwell.db"):
    """Two runs of `greet` that succeeded, five of `broken` that died."""
    good = [("greet", {"name": "Ada"})] * GOOD
    bad = [("broken", {"number": number}) for number in range(BAD)]
    asyncio.run(_run(url, [*good, *bad]))


def work(url="sqlite:///tickwell.db", count=1):
    """Run what waits, until so many attempts have ended."""
    asyncio.run(_run(url, [("greet", None)] * count))
