"""A secret goes to its receiver, and is in nothing else that anybody can look at."""

import asyncio
import logging

import httpx
import pytest

from tests.api.access.test_matrix import operations
from tests.executors.http.receiver import Receiver
from tickwell.declared.internals import internals
from tickwell.events import AttemptsFinished
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings
from tickwell.web.access import first_start
from tickwell.wiring import make_api

CANARY = 'canary "q7731x" / ünd so weiter'
LOCAL = Settings(
    allow_http=True,
    allow_private=("127.0.0.0/8",),
    allow_ports=("1-65535",),
    lead="0s",
    poll="200ms",
)


async def echo(exchange):
    """Sends back all that it got, as careless receivers do, and fails."""
    body = exchange.head + b"\n" + exchange.body
    await exchange.send(
        b"HTTP/1.1 500 No\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body
    )


@pytest.fixture
async def service(tmp_path):
    scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db", settings=LOCAL)
    await scheduler.start()
    operation_context = internals(scheduler).operation_context()
    app = make_api(
        operation_context,
        health=scheduler.health,
        settings=scheduler.settings,
        events=internals(scheduler).events,
    )
    first = await first_start(app.state.context, operation_context)
    assert first is not None
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {first.key}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://test/api/v1", headers=headers
    ) as http:
        yield scheduler, http, app
    await app.state.context.close()
    await scheduler.stop()


async def test_the_canary_is_with_its_receiver_only(service, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    scheduler, http, app = service
    heard: list[object] = []
    ended = asyncio.Event()

    def hear(event):
        heard.append(event)
        if isinstance(event, AttemptsFinished) and event.reports[0].attempt == 2:
            ended.set()

    scheduler.subscribe(hear)
    seen = [(await http.put("/secrets/canary", json={"value": CANARY})).text]
    async with Receiver(echo) as receiver:
        job = {
            "name": "leaky",
            "trigger": {"on_demand": True},
            "retry": {"max_attempts": 2, "delay": "0s"},
            "target": {
                "http": {
                    "url": receiver.url("/path/{{secret.canary}}?q={{secret.canary}}"),
                    "body": {"deep": ["{{secret.canary}}"], "text": "so: {{secret.canary}}"},
                    "keep": 60_000,
                }
            },
        }
        assert (await http.post("/jobs", json=job)).status_code == 201
        assert (await http.post("/jobs/leaky/trigger")).status_code in {200, 201, 202}
        async with asyncio.timeout(100):
            await ended.wait()
        received = receiver.exchanges[0]
    assert b"canary" in received.body
    assert "canary%20%22q7731x%22" in received.line
    for method, path, operation in operations(app):
        if method == "get" and "{" not in path and operation["x-permission"] != "platform":
            seen.append((await http.get(f"http://test{path}")).text)
    (execution,) = (await http.get("/executions")).json()["items"]
    seen.append((await http.get(f"/executions/{execution['id']}")).text)
    seen.append((await http.get("/jobs/leaky")).text)
    files = [path for path in tmp_path.iterdir() if ".key" not in path.name]
    kept = b"".join(path.read_bytes() for path in files)
    assert b"leaky" in kept
    assert "***" in seen[-2]
    # All forms that it was sent in begin alike, once quotes and escapes are left out.
    for place in (kept.decode("latin-1"), *seen, repr(heard), caplog.text):
        assert "q7731x" not in place
        assert "so weiter" not in place
        assert "so%20weiter" not in place
