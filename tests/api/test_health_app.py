"""What a process without the API answers to probes."""

import subprocess
import sys
from contextlib import asynccontextmanager

import httpx
import pytest

from tickwell.api.health import HealthApp
from tickwell.clock import StoreClock
from tickwell.domain.health import ProcessHealth
from tickwell.domain.worker import Worker
from tickwell.errors import StoreUnavailable
from tickwell.services.health import HealthReader
from tickwell.services.operations.records.service import HealthDetails
from tickwell.services.operations.schema import fields_of
from tickwell.stores.memory import MemoryStore

WELL = ProcessHealth(ok=True)
ILL = ProcessHealth(ok=False, problems=["planner: db.internal hangs"], full=["threads"], in_hand=3)
EVERYTHING = Worker(
    id="w",
    host="here",
    pid=1,
    queues=("default",),
    abilities=(),
    capacity=1,
    started_at=0,
    roles=("planner", "worker"),
)


class Store(MemoryStore):
    answers = True

    async def ping(self):
        if not self.answers:
            raise StoreUnavailable("db.internal refuses")
        return await super().ping()


@asynccontextmanager
async def asking(process, address="127.0.0.1", *, connected=True, host="localhost"):
    store = Store()
    await store.beat(EVERYTHING, await store.ping())
    store.answers = connected
    reader = HealthReader(store, StoreClock())
    reader.process = lambda: process
    transport = httpx.ASGITransport(app=HealthApp(reader), client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as http:
        yield http


@pytest.mark.parametrize(
    ("path", "well", "ill"),
    [("/health", 200, 503), ("/readyz", 200, 503), ("/healthz", 200, 200)],
)
async def test_probes_are_answered_as_the_api_answers_them(path, well, ill):
    async with asking(WELL) as http:
        answer = await http.get(path)
    assert (answer.status_code, answer.json()["status"]) == (well, "healthy")
    for process, connected in ((ILL, True), (WELL, False)):
        async with asking(process, "10.0.0.9", connected=connected) as http:
            answer = await http.get(path)
        assert answer.status_code == ill
        assert "internal" not in answer.text


async def test_this_machine_is_told_why():
    async with asking(ILL, "::1") as http:
        answer = await http.get("/health/detailed")
    assert answer.status_code == 503
    told = answer.json()
    assert (told["findings"][0]["text"], told["in_hand"]) == (ILL.problems[0], 3)
    assert told.keys() == {each.name for each in fields_of(HealthDetails)}
    assert (told["database"], told["scheduler_service"]) == ("connected", "failing")
    async with asking(WELL, connected=False) as http:
        answer = await http.get("/health/detailed")
    told = answer.json()
    assert (answer.status_code, told["status"]) == (503, "unhealthy")
    assert (told["database"], told["redis"]) == ("disconnected", "not configured")


@pytest.mark.parametrize("address", ["10.0.0.9", "2001:db8::1", "a-name"])
async def test_others_are_not(address):
    async with asking(ILL, address) as http:
        answer = await http.get("/health/detailed")
    assert answer.status_code == 403
    assert "internal" not in answer.text


async def test_a_page_that_has_its_name_lead_here_is_not():
    async with asking(ILL, host="rebound.example.com") as http:
        answer = await http.get("/health/detailed")
    assert answer.status_code == 403
    assert "internal" not in answer.text


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
async def test_others_are_not_through_a_proxy_on_this_machine(header):
    async with asking(ILL) as http:
        answer = await http.get("/health/detailed", headers={header: "127.0.0.1"})
    assert answer.status_code == 403
    assert "internal" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/jobs", 404, "not-found"),
        ("POST", "/health", 405, "method-not-allowed"),
        ("GET", "/health/detailed", 403, "forbidden"),
    ],
)
async def test_what_is_wrong_is_said_as_the_api_says_it(method, path, status, kind):
    async with asking(ILL, "10.0.0.9") as http:
        answer = await http.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers.get("allow") == ("GET, HEAD" if status == 405 else None)
    problem = answer.json()
    assert problem["type"] == f"urn:tickwell:problem:{kind}"
    assert problem["detail"]
    assert problem.keys() == {"type", "title", "status", "detail", "request_id"}


def test_it_needs_no_framework():
    code = "import sys, tickwell.api.http.connection, tickwell.api.health"
    code += ", tickwell.cli.serving.service; print('fastapi' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
