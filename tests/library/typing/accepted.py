"""What type checkers must accept: as people write it, and as it works."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, assert_type

from tickwell import (
    Cron,
    Depends,
    Every,
    Execution,
    Http,
    Job,
    Misfire,
    Retention,
    Retry,
    Run,
    Scheduler,
    Timeout,
)
from tickwell.events import AttemptsFinished, Event

scheduler = Scheduler("memory://")


@scheduler.job(
    Cron("0 9 * * mon-fri", tz="Europe/Rome"),
    retry=Retry(delay="5s", cap=timedelta(minutes=1), backoff="fixed"),
    misfire=Misfire(policy="all", grace="1m"),
    timeout=Timeout(soft="1m", hard="90s"),
    retention=Retention(age="7d"),
    overlap="queue_one",
    expires="10m",
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
    assert_type(await mail.trigger(7, subject="welcome"), Execution[None])
    await mail.trigger_in("10m", 7)
    await mail.trigger_at(datetime(2026, 1, 1, tzinfo=UTC), user_id=7)
    await mail.options(key="order-1").trigger(7)
    assert_type(clean.blocking.trigger("eu"), Execution[int])
    assert_type((await scheduler.wait(await report.trigger())).result, str | None)
    assert_type(scheduler.blocking.wait(await clean.trigger("eu")).result, int | None)
    assert_type(scheduler.blocking.get_job("clean"), Job)
    assert_type((await scheduler.get_execution("id")).started_at, datetime | None)
    for dead in await scheduler.executions(state="dead", job="clean", limit=5):
        assert_type(dead.fire_time, datetime)
    await scheduler.add_job("ping", Every("5m"), Http("https://example.com/hook"), expires="1m")
    await scheduler.edit_job("ping", trigger=Every("10m"), overlap="skip")
    await scheduler.pause_job("ping", until="2h")
    assert_type(Retry().delay, int)


class Mailer: ...


def open_mailer() -> Mailer:
    return Mailer()


@scheduler.middleware
async def timing(run: Run, call_next: Callable[[], Awaitable[object]]) -> object:
    return await call_next()


@scheduler.middleware
def logged(run: Run, call_next: Callable[[], object]) -> object:
    return call_next()


@scheduler.job()
async def send(user_id: int, mailer: Mailer = Depends(open_mailer)) -> str:
    return str(user_id)


class Import:
    def __init__(self, mailer: Annotated[Mailer, Depends(open_mailer)]) -> None:
        self.mailer = mailer

    async def run(self, path: str) -> int:
        return len(path)


class Export:
    def run(self, run: Run, path: str) -> int:
        return len(path)


#: mypy does not look at what decorates a class.
import_ = scheduler.job()(Import)
export = scheduler.job(name="export")(Export)


async def around() -> None:
    assert_type(await send.trigger(7), Execution[str])
    assert_type(await import_.trigger("x"), Execution[int])
    assert_type(await export.trigger(path="x"), Execution[int])
