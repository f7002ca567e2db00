"""Lines that handlers log in an application, whose logging is its own."""

import asyncio
import contextvars
import logging
from concurrent.futures import ThreadPoolExecutor

from tickwell import Scheduler
from tickwell.declared.internals import internals
from tickwell.events import AttemptsFinished


async def run(scheduler, name):
    ended = asyncio.Event()

    def hear(event):
        if isinstance(event, AttemptsFinished):
            ended.set()

    scheduler.subscribe(hear)
    async with scheduler:
        execution = await internals(scheduler).executions.trigger("default", name)
        await ended.wait()
    return execution


async def test_a_record_has_the_fields_of_its_execution_and_extra_wins(caplog):
    scheduler = Scheduler("memory://")

    @scheduler.job()
    def report() -> None:
        logging.getLogger("shop").warning("plain")
        logging.getLogger("shop").warning("own", extra={"job": "mine", "order": 5})

    execution = await run(scheduler, "report")
    plain, own = (record for record in caplog.records if record.name == "shop")
    assert (plain.execution, plain.job, plain.attempt) == (execution.id, "report", 1)
    assert (own.execution, own.job, own.order) == (execution.id, "mine", 5)
    assert logging.Formatter("%(execution)s %(job)s").format(own) == f"{execution.id} mine"


async def test_a_thread_of_the_handler_has_them_by_a_copy_of_its_context(caplog):
    scheduler = Scheduler("memory://")

    def work():
        logging.getLogger("shop").warning("from a pool")

    @scheduler.job()
    def report() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(contextvars.copy_context().run, work).result()

    execution = await run(scheduler, "report")
    (record,) = (record for record in caplog.records if record.name == "shop")
    assert (record.execution, record.job) == (execution.id, "report")


async def test_outside_of_an_attempt_a_record_has_none(caplog):
    logging.getLogger("shop").warning("plain")
    (record,) = caplog.records
    assert not hasattr(record, "execution")


async def test_a_requested_run_is_logged_when_it_is_triggered(caplog):
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def report() -> None: ...

    with caplog.at_level(logging.DEBUG, logger="tickwell"):
        execution = await run(scheduler, "report")
    (record,) = (
        each for each in caplog.records if getattr(each, "event", "") == "execution_triggered"
    )
    assert (record.execution, record.job) == (execution.id, "report")
