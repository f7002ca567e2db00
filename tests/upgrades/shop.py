"""A small application whose store is kept of every release."""

import asyncio

from tickwell import Every, Http, OnDemand, Retry, Scheduler

#: What it leaves behind, by job.
STATES = {"hourly": "succeeded", "broken": "dead", "greet": "succeeded"}


def shop(url: str) -> tuple[Scheduler, asyncio.Event]:
    """Its scheduler, and what is set when the hourly job runs."""
    scheduler, ran = Scheduler(url, app="shop"), asyncio.Event()

    @scheduler.job(Every("1h"))
    async def hourly() -> str:
        ran.set()
        return "done"

    @scheduler.job(retry=Retry(max_attempts=1))
    async def broken() -> None:
        raise ConnectionError("the bank does not answer")

    @scheduler.job(payload={"name": "Ada"})
    async def greet(name: str) -> str:
        return f"hello, {name}"

    return scheduler, ran


async def leave_behind(url: str) -> None:
    """Run for a moment: executions that ended well and badly, one that waits, a job on hold."""
    scheduler, _ = shop(url)
    async with scheduler:
        for name in ("hourly", "broken", "greet"):
            await scheduler.wait((await scheduler.trigger(name)).id)
        await scheduler.add_job("resting", Every("1m"), Http("https://shop.example/rest"))
        await scheduler.pause_job("resting", why="stocktaking")
        await scheduler.add_job("adhoc", OnDemand(), Http("https://shop.example/adhoc"))
        await scheduler.trigger_in("3650d", "adhoc", {"order": 7})
