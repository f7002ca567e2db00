"""The overlap policies: what happens when a job fires before its last run has ended.

Each job fires at 0.0, 0.5, 1.0 and 1.5 seconds, and each run takes 1.2 seconds. So `skip` runs two
of the four and `queue_one` three, unless the machine is so busy that it starts them late.

It prints:
    queue_all: 4 due, 4 ran
    allow: 4 due, 4 ran
"""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

from tickwell import Answer, Every, Overlap, Run, Scheduler, Settings

# A worker receives cancel requests with its beats: beat often in this example.
scheduler = Scheduler("memory://", settings=Settings(beat="100ms"))
begin = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4)
fires = Every("500ms", start=begin, until=begin + timedelta(seconds=1.5))
ended: Counter[str] = Counter()
last_ended = asyncio.Event()


async def work(run: Run) -> None:
    """Print the start, then take longer than the interval."""
    now = (datetime.now(UTC) - begin).total_seconds()
    fired = (run.fire_time - begin).total_seconds()
    print(f"at {now:3.1f} s {run.job} starts the fire of {fired:.1f} s")
    await asyncio.sleep(1.2)
    ended[run.job] += 1
    if ended["queue_all"] == 4:  # the one that takes longest
        last_ended.set()


for overlap in Overlap:
    scheduler.job(fires, name=overlap.value, overlap=overlap)(work)


async def main() -> None:
    """Run all policies, then print the answer of every fire time."""
    async with scheduler:
        await last_ended.wait()
        until = begin + timedelta(seconds=2)
        for each in Overlap:
            slots = await scheduler.slots(each.value, since=begin, until=until)
            ran = sum(slot.answer is Answer.EXECUTED for slot in slots)
            print(f"{each.value}: {len(slots)} due, {ran} ran")


if __name__ == "__main__":
    asyncio.run(main())
