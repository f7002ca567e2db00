"""What type checkers must refuse: an ignore that nothing needs is an error too."""

from tickwell import Every, Retry, Run, Scheduler, Timeout

scheduler = Scheduler("memory://")


@scheduler.job()
async def mail(run: Run, user_id: int) -> None: ...


@scheduler.job()
def clean(region: str) -> int:
    return len(region)


async def main() -> None:
    await mail.trigger("seven")  # type: ignore[arg-type]
    await mail.trigger()  # type: ignore[call-arg]
    await mail.trigger(7, subject="x")  # type: ignore[call-arg]
    await mail.trigger_in("10m", "seven")  # type: ignore[arg-type]
    clean(5)  # type: ignore[arg-type]
    clean.blocking.trigger(5)  # type: ignore[arg-type]
    await scheduler.edit_job("clean", expires=5.5)  # type: ignore[arg-type]
    scheduler.job(Every("5m"), retries=3)  # type: ignore[call-arg]
    scheduler.job(Every("5m"), overlap="sometimes")  # type: ignore[arg-type]
    scheduler.job("5m")  # type: ignore[arg-type]
    scheduler.job(isolation="thread")  # type: ignore[arg-type]
    scheduler.on("begin")  # type: ignore[arg-type]
    Retry(delay=5.5)  # type: ignore[arg-type]
    Retry(backoff="steep")  # type: ignore[arg-type]
    Timeout(hard=None)  # type: ignore[arg-type]


class Import:
    async def run(self, path: str) -> int:
        return len(path)


def of_three(run: Run, call_next: object, more: int) -> None: ...


import_ = scheduler.job()(Import)


async def classes() -> None:
    await import_.trigger(7)  # type: ignore[arg-type]
    await import_.trigger()  # type: ignore[call-arg]
    scheduler.middleware(of_three)  # type: ignore[type-var]
