"""A scheduler that was closed leaves nothing open: no socket, no task, no thread, no file."""

import pytest

from tests.servers import mariadb_tables, mongo, redis_keys, schemas

PROGRAM = """
    import asyncio, gc, sys, threading
    from tickwell import Http, Scheduler, Settings
    from tickwell.events import AttemptsFinished
    from tickwell.testing import Receiver

    HERE = Settings(
        allow_http=True, allow_private=("127.0.0.0/8",), allow_ports=("1-65535",)
    )

    async def main(url, target):
        scheduler = Scheduler(url, settings=HERE)
        ended = asyncio.Semaphore(0)

        @scheduler.on(AttemptsFinished)
        def count(event) -> None:
            for _ in event.reports:
                ended.release()

        @scheduler.job()
        async def mail() -> None:
            pass

        await scheduler.start()
        await mail.trigger()
        await scheduler.add_job("hook", None, Http(target.url()))
        await scheduler.trigger("hook")
        await ended.acquire()
        await ended.acquire()
        await scheduler.delete_job("hook")
        await scheduler.stop()

    with Receiver() as target:
        asyncio.run(main(sys.argv[1], target))
    assert len(target.requests) == 1
    gc.collect()
    print([each.name for each in threading.enumerate()])
"""
STORES = {
    "memory": lambda folder: "memory://",
    "sqlite": lambda folder: f"sqlite:///{folder}/jobs.db",
    "postgresql": lambda folder: schemas.url("leaks"),
    "mysql": lambda folder: mariadb_tables.url("leaks_"),
    "mongodb": lambda folder: mongo.replica().url("leaks"),
    "redis": lambda folder: redis_keys.url("leaks"),
}


@pytest.mark.parametrize("store", STORES)
def test_nothing_stays_open(store, tmp_path, program):
    assert program(PROGRAM, STORES[store](tmp_path)) == ("['MainThread']\n", "", 0)
