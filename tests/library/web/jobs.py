"""The scheduler of the web applications under test, and of the test that watches them."""

import os

from tickwell import Scheduler, Settings

#: Where the store and the journal are, for server processes.
STORE, JOURNAL = "WEB_TEST_STORE", "WEB_TEST_JOURNAL"
#: Where its processes count together; unset: each counts alone.
METRICS = "WEB_TEST_METRICS"


def scheduler_on(store, journal):
    """A scheduler whose jobs write down each call outside the store."""
    settings = Settings(auth=False, metrics_dir=os.environ.get(METRICS, ""))
    scheduler = Scheduler(store, app="web", settings=settings)

    def write(number: int) -> None:
        # One write to a file that is only appended to: processes do not mix their lines.
        file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{number}\n".encode())
        os.close(file)

    @scheduler.job()
    async def mail(number: int) -> None:
        write(number)

    @scheduler.job()
    def resize(number: int) -> None:
        write(number)

    return scheduler, mail, resize


if STORE in os.environ:
    scheduler, mail, resize = scheduler_on(os.environ[STORE], os.environ[JOURNAL])


def ask(number):
    """What a sync view does: ask for a run, then read the run and all jobs."""
    execution = resize.blocking.trigger(number)
    found = scheduler.blocking.get_execution(execution.id)
    return _answer(found, scheduler.blocking.jobs())


async def ask_async(number):
    """What an async view does."""
    execution = await mail.trigger(number)
    found = await scheduler.get_execution(execution.id)
    return _answer(found, await scheduler.jobs())


def _answer(execution, entries):
    return {"id": execution.id, "jobs": [each.name for each in entries], "pid": os.getpid()}
