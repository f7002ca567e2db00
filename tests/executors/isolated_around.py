"""Handlers in processes of their own, with all that may be around a handler."""

import asyncio
import os

from tickwell import Depends, Run, Scheduler

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
