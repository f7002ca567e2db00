"""A process that does not know a trigger leaves its jobs to those that do."""

import asyncio

from tickwell import Every, Scheduler
from tickwell.events import JobUnreadable

#: Adds a job with a trigger of its own, runs it once, and tells what became of its fire times.
KNOWS = """
    import asyncio
    import sys
    from datetime import datetime, timedelta
    from tickwell import CustomTrigger, Scheduler

    class Tick(CustomTrigger, name="test.tick"):
        seconds: int

        def next_fire(self, after: datetime) -> datetime | None:
            second = after.replace(microsecond=0)
            return second + timedelta(seconds=self.seconds - second.second % self.seconds)

    async def main() -> None:
        scheduler = Scheduler(sys.argv[1], app="knows")
        ran = asyncio.Event()

        @scheduler.job(Tick(seconds=1, jitter="1ms"))
        async def own() -> None:
            ran.set()

        async with scheduler:
            job = await scheduler.get_job("own")
            await asyncio.wait_for(ran.wait(), 100)
            runs = await scheduler.executions(job="own", kind="fire")
            until = max(run.fire_time for run in runs)
            slots = await scheduler.slots("own", since=job.created_at, until=until)
            print(job.trigger.explain(), sorted({slot.answer.value for slot in slots}))

    asyncio.run(main())
"""


async def test_it_fires_its_other_jobs_and_says_which_one_it_cannot_read(program, tmp_path, caplog):
    url = f"sqlite:///{tmp_path}/jobs.db"
    before = await asyncio.to_thread(program, KNOWS, url)
    assert (before[1], before[2]) == ("", 0), before
    scheduler = Scheduler(url, app="other")
    told, ran = asyncio.Queue[JobUnreadable](), asyncio.Queue[None]()
    scheduler.on(JobUnreadable)(told.put_nowait)

    @scheduler.job(Every("100ms"))
    async def plain() -> None:
        ran.put_nowait(None)

    async with scheduler:
        event = await asyncio.wait_for(told.get(), 100)
        for _ in range(ran.qsize() + 2):
            await asyncio.wait_for(ran.get(), 100)
    assert "this process knows no trigger 'test.tick'" in event.why
    # fires of the other job, which were planned ahead, are met by the recall of a new process
    assert not any("the store failed" in message for message in caplog.messages)
    again = await asyncio.to_thread(program, KNOWS, url)
    assert again[2] == 0, again
    assert again[0].startswith("test.tick (seconds 1); each up to millisecond later")
    assert "unanswered" not in again[0]
    assert "executed" in again[0]  # by the first process, and the newest that were missed
