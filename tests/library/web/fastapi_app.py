"""FastAPI applications: the server's loop owns the scheduler, or a background thread does."""

import asyncio
from contextlib import asynccontextmanager

from fastapi import FastAPI

from tests.library.web.jobs import ask, ask_async, scheduler


@asynccontextmanager
async def in_background(_app):
    await asyncio.to_thread(scheduler.start_in_background)
    yield
    await scheduler.stop()


def application(lifespan):
    app = FastAPI(lifespan=lifespan)
    app.mount("/scheduler", scheduler.asgi())
    app.get("/sync/{number}")(sync_view)
    app.get("/async/{number}")(async_view)
    return app


def sync_view(number: int) -> dict:
    return ask(number)


async def async_view(number: int) -> dict:
    return await ask_async(number)


app = application(scheduler.lifespan)
beside = application(in_background)
