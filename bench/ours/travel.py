"""Virtual days on which nothing is due: `python -m bench.ours.travel DAYS`, at most 300."""

import sys
import time
from datetime import UTC, datetime

from bench.ours.process import run
from tickwell import Cron
from tickwell.testing import Kit

#: Its job fires next in eleven months.
BEGIN = datetime(2026, 2, 1, tzinfo=UTC)


async def travel(days: int) -> dict[str, list[float]]:
    """Seconds of each day but the first, on which the scheduler starts."""
    async with Kit() as kit:
        kit.start_at(BEGIN)

        @kit.job(Cron("0 3 1 1 *"))
        async def on_new_year() -> None:
            raise AssertionError("due on a day on which nothing is")

        await kit.travel("1d")
        taken = []
        for _ in range(days):
            begin = time.perf_counter()
            await kit.travel("1d")
            taken.append(time.perf_counter() - begin)
        return {"seconds": taken}


if __name__ == "__main__":
    run(travel(int(sys.argv[1])))
