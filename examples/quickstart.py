"""A cron job, an interval job and a job on demand, on SQLite. Ends after three runs each.

It prints:
    cron fired at a whole second
    hello, Ada
    three runs each: stopping
"""

import asyncio
from collections import Counter

from tickwell import Cron, Every, Run, Scheduler

scheduler = Scheduler("sqlite:///quickstart.db")
seen: Counter[str] = Counter()
enough = asyncio.Event()


@scheduler.job(Cron("* * * * * *"))
async def tick(run: Run) -> None:
    """Every second: with six fields the first is the second."""
    if run.fire_time.microsecond == 0:
        print("cron fired at a whole second")
    seen[run.job] += 1
    if all(seen[name] >= 3 for name in ("tick", "sync_users", "greet")):
        enough.set()


@scheduler.job(Every("500ms"))
def sync_users(run: Run) -> None:
    """Twice a second: a plain function runs in a thread."""
    seen[run.job] += 1


@scheduler.job()
async def greet(run: Run, name: str) -> None:
    """On demand only."""
    print(f"hello, {name}")
    seen[run.job] += 1


async def main() -> None:
    """Run until each job has run three times. A real program would call `scheduler.run()`."""
    async with scheduler:
        for name in ("Ada", "Grace", "Edsger"):
            await greet.trigger(name)
        await enough.wait()
    print("three runs each: stopping")


if __name__ == "__main__":
    asyncio.run(main())
