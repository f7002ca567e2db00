"""A FastAPI application with its scheduler: one lifespan for both.

In production: `uvicorn web_app:app --workers 4`. Each worker has a scheduler on the same store,
and every fire still runs once. Run as a script, this asks the application what a browser would;
`pip install httpx` for that.

Run again, it asks for the same run by its key, which has ended: no second mail is sent. It prints:
    202 queued
    welcome mail to user 7
    the run succeeded
"""

import asyncio

import httpx
from fastapi import FastAPI

from tickwell import Cron, Scheduler

scheduler = Scheduler("sqlite:///web_app.db", app="shop")
app = FastAPI(lifespan=scheduler.lifespan)


@scheduler.job()
async def send_welcome(user_id: int) -> None:
    """On demand: the web request does not wait for the run."""
    print(f"welcome mail to user {user_id}")


@scheduler.job(Cron("0 3 * * *", tz="Europe/Rome"))
async def nightly_report() -> None:
    """At three in the morning, in one of the workers."""


@app.post("/users/{user_id}", status_code=202)
async def register(user_id: int) -> dict[str, str]:
    """Trigger a run; two requests for the same user are one run."""
    execution = await send_welcome.options(key=f"welcome-{user_id}").trigger(user_id)
    return {"execution": execution.id, "state": execution.state}


@app.get("/runs/{id}")
async def read(id: str) -> dict[str, str]:
    """Return the state of a run."""
    return {"state": (await scheduler.get_execution(id)).state}


async def main() -> None:
    """Simulate the server and the browser."""
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://shop") as browser,
    ):
        answer = await browser.post("/users/7")
        print(answer.status_code, answer.json()["state"])
        await scheduler.wait(answer.json()["execution"])
        run = await browser.get(f"/runs/{answer.json()['execution']}")
        print(f"the run {run.json()['state']}")


if __name__ == "__main__":
    asyncio.run(main())
