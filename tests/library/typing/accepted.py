"""What type checkers must accept: as people write it, and as it works."""

from datetime import UTC, datetime, timedelta
from typing import Any, assert_type

from tickwell import (
    Cron,
    Every,
    Execution,
    Http,
    Misfire,
    Retention,
    Retry,
    Run,
    Scheduler,
    Timeout,
)
from tickwell.domain.event import AttemptsFinished, Event

scheduler = Scheduler("memory://")


@scheduler.job(
    Cron("0 9 * * mon-fri", tz="Europe/Rome"),
    retry=Retry(delay="5s", cap=timedelta(minutes=1), backoff="fixed"),
    misfire=Misfire(policy="all", grace="1m"),
    timeout=Timeout(soft="1m", hard="90s"),
    retention=Retention(age="7d"),
    overlap="queue_one",
    ttl="10m",
    tags=("reports",),
)
async def report() -> str:
    return "sent"


@scheduler.job()
async def mail(run: Run, user_id: int, subject: str = "hello") -> None:
    run.progress(0.5, "half")
    previous: Any = await run.last_result
    if previous is None:
        run.snooze("5m")


@scheduler.job(Every("1h"), isolation="process", payload={"region": "eu"})
def clean(region: str) -> int:
    return len(region)


@scheduler.on("start")
def begin() -> None: ...


@scheduler.on(AttemptsFinished)
async def count(event: Event) -> None: ...


async def main(run: Run) -> None:
    assert_type(await report(), str)
    assert_type(clean("eu"), int)
    await mail(run, 7)
    assert_type(await mail.trigger(7, subject="welcome"), Execution)
    await mail.trigger_in("10m", 7)
    await mail.trigger_at(datetime(2026, 1, 1, tzinfo=UTC), user_id=7)
    await mail.keyed("order-1").trigger(7)
    assert_type(clean.blocking.trigger("eu"), Execution)
    await scheduler.add("ping", Every("5m"), Http("https://example.com/hook"), ttl="1m")
    await scheduler.edit("ping", trigger=Every("10m"), overlap="skip")
    await scheduler.pause("ping", until="2h")
    assert_type(Retry().delay, int)
