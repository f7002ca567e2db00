"""Handlers in processes of their own, with all that may be around a handler."""

import asyncio
import os

from tickwell import Depends, Every, Run, Scheduler

PLAIN, ASYNC = Scheduler("memory://"), Scheduler("memory://")


@PLAIN.middleware
def around(run, call_next):
    return {"outer": os.getpid(), "inner": call_next()}


@ASYNC.middleware
def plain_around(run, call_next):
    return {"outer": os.getpid(), "inner": call_next()}


@ASYNC.middleware
async def async_around(run, call_next):
    await asyncio.sleep(0)
    return await call_next()


def opened():
    yield os.getpid()
    print("closed")  # noqa: T201 - what is tested


async def opened_async(run: Run):
    yield os.getpid()
    print("closed async", run.attempt)  # noqa: T201 - what is tested


@PLAIN.job(isolation="process")
def plain(n: int, pid: int = Depends(opened)) -> list[int]:
    return [n, pid]


@PLAIN.job(isolation="process")
class Work:
    def __init__(self, pid: int = Depends(opened)) -> None:
        self.pid = pid

    def run(self, n: int) -> list[int]:
        return [n, self.pid]


@ASYNC.job(isolation="process")
async def in_a_loop(n: int, pid: int = Depends(opened_async)) -> list[int]:
    return [n, pid]


@ASYNC.job(isolation="process")
def in_a_thread(n: int, pid: int = Depends(opened_async)) -> list[int]:
    return [n, pid]


ASKED = Scheduler("memory://")


@ASKED.middleware
def envelope(run, call_next):
    return {"answer": call_next()}


@ASKED.job(isolation="process")
def plain_condition(pid: int = Depends(opened)) -> bool:
    return pid == os.getpid()


@ASKED.job(isolation="process")
async def async_condition(run: Run, pid: int = Depends(opened_async)) -> bool:
    return pid == os.getpid() and await run.last_result is None


@ASKED.job(Every("1h"), only_if="plain_condition")
def plainly() -> str:
    return "ran"


@ASKED.job(Every("1h"), only_if="async_condition")
async def asynchronously() -> str:
    return "ran"
