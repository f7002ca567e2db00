"""What a process without the API answers to probes."""

import subprocess
import sys

import httpx
import pytest

from tickwell.api.health import HealthApp
from tickwell.api.models.other import HealthDetails
from tickwell.domain.health import Health

ILL = Health(ok=False, problems=["the store does not answer"], full=["threads"], in_hand=3)


def asking(health, address="127.0.0.1", *, connected=True):
    async def store_answers():
        return connected

    app = HealthApp(lambda: health, "memory://", store_answers)
    transport = httpx.ASGITransport(app=app, client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://here")


@pytest.mark.parametrize(
    ("path", "well", "ill"),
    [("/health", 200, 503), ("/readyz", 200, 503), ("/healthz", 200, 200)],
)
async def test_probes_are_answered_as_the_api_answers_them(path, well, ill):
    async with asking(Health(ok=True)) as http:
        answer = await http.get(path)
    assert (answer.status_code, answer.json()["status"]) == (well, "healthy")
    for health, connected in ((ILL, True), (Health(ok=True), False)):
        async with asking(health, "10.0.0.9", connected=connected) as http:
            answer = await http.get(path)
        assert answer.status_code == ill
        assert "store" not in answer.text


async def test_this_machine_is_told_why():
    async with asking(ILL, "::1") as http:
        answer = await http.get("/health/detailed")
    assert answer.status_code == 503
    told = answer.json()
    assert (told["problems"], told["full"], told["in_hand"]) == (ILL.problems, ILL.full, 3)
    assert told.keys() == HealthDetails.model_fields.keys()
    assert (told["database"], told["scheduler_service"]) == ("connected", "failing")
    async with asking(Health(ok=True), connected=False) as http:
        answer = await http.get("/health/detailed")
    told = answer.json()
    assert (answer.status_code, told["status"]) == (503, "unhealthy")
    assert (told["database"], told["scheduler_service"]) == ("disconnected", "running")


async def test_others_are_not():
    async with asking(ILL, "10.0.0.9") as http:
        answer = await http.get("/health/detailed")
    assert answer.status_code == 403
    assert "store" not in answer.text


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
async def test_others_are_not_through_a_proxy_on_this_machine(header):
    async with asking(ILL) as http:
        answer = await http.get("/health/detailed", headers={header: "127.0.0.1"})
    assert answer.status_code == 403
    assert "store" not in answer.text


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
    code = "import sys, tickwell.api.connection, tickwell.api.health, tickwell.cli.service"
    code += "; print('fastapi' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
