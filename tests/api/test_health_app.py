"""What a process without the API answers to probes."""

import httpx
import pytest

from tickwell.api.health import HealthApp
from tickwell.domain.health import Health

ILL = Health(ok=False, problems=["the store does not answer"], full=["threads"], in_hand=3)


def asking(health, address="127.0.0.1"):
    app = HealthApp(lambda: health, "memory://")
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
    async with asking(ILL, "10.0.0.9") as http:
        answer = await http.get(path)
    assert answer.status_code == ill
    assert "store" not in answer.text


async def test_this_machine_is_told_why():
    async with asking(ILL, "::1") as http:
        answer = await http.get("/health/detailed")
    assert answer.status_code == 503
    told = answer.json()
    assert (told["problems"], told["full"], told["in_hand"]) == (ILL.problems, ILL.full, 3)


async def test_others_are_not():
    async with asking(ILL, "10.0.0.9") as http:
        answer = await http.get("/health/detailed")
    assert answer.status_code == 403
    assert "store" not in answer.text
