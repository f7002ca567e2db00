"""`/metrics`: in which form, and to whom."""

import httpx
import pytest

from tests.api.conftest import METRICS_TOKEN
from tests.observe.metrics.reports import a_report
from tickwell.api.health import HealthApp
from tickwell.api.metrics import MetricsApp
from tickwell.clock import StoreClock
from tickwell.domain.event import AttemptsFinished, Events
from tickwell.domain.health import Finding, Health, Level
from tickwell.errors import StoreUnavailable
from tickwell.services.health import HealthReader
from tickwell.services.operations.records.service import MetricsSummary
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.wiring import make_metrics

#: As Prometheus 2.42 sends it.
PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
BEARER = {"authorization": f"Bearer {METRICS_TOKEN}"}


def asking(settings, address="127.0.0.1", host="localhost", store=None, **headers):
    """A process without the API, asked from an address."""
    store, clock, events = store or MemoryStore(), StoreClock(), Events()
    metrics = make_metrics(store, clock, settings, events)
    health = HealthApp(HealthReader(store, clock), MetricsApp(metrics, settings))
    transport = httpx.ASGITransport(app=health, client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers)


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/metrics", PROMETHEUS, "application/openmetrics-text"),
        ("/metrics", "text/plain", "text/plain"),
        ("/metrics", "application/vnd.google.protobuf", "text/plain"),
        ("/metrics", BROWSER, "application/json"),
        ("/metrics", "*/*", "application/json"),
        ("/metrics/prometheus", "*/*", "text/plain"),
        ("/metrics/prometheus", BROWSER, "text/plain"),
        ("/metrics", "text/plain;version=abc", "text/plain"),
        ("/metrics", "application/openmetrics-text;version=1e9", "text/plain"),
        ("/metrics", f"text/plain;version={'9' * 5000}", "text/plain"),
    ],
)
async def test_the_form_is_negotiated(path, accept, kind):
    async with asking(Settings()) as http:
        answer = await http.get(path, headers={"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["vary"] == "Accept"
    if kind == "application/json":
        MetricsSummary.read(answer.json())
    else:
        assert "tickwell_build_info{" in answer.text


@pytest.mark.parametrize(
    ("settings", "address", "headers", "status"),
    [
        ({}, "127.0.0.1", {}, 200),
        ({}, "::1", {}, 200),
        ({}, "10.0.0.9", {}, 401),
        ({}, "testclient", {}, 401),
        ({}, "127.0.0.1", {"x-forwarded-for": "203.0.113.7"}, 401),
        ({"public_url": "https://jobs.example.com"}, "127.0.0.1", {}, 401),
        ({"trusted_proxies": ("127.0.0.1/32",)}, "127.0.0.1", {}, 401),
        ({"metrics_token": METRICS_TOKEN}, "127.0.0.1", {}, 401),
        ({"metrics_token": METRICS_TOKEN}, "10.0.0.9", BEARER, 200),
        ({"metrics_token": METRICS_TOKEN}, "10.0.0.9", {"authorization": "Bearer scrape"}, 401),
        ({"metrics_token": METRICS_TOKEN}, "10.0.0.9", {"authorization": METRICS_TOKEN}, 401),
    ],
)
async def test_a_process_without_the_api_answers_the_token_or_its_own_machine(
    settings, address, headers, status
):
    async with asking(Settings(**settings), address, **headers) as http:
        answer = await http.get("/metrics")
    assert answer.status_code == status
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "jobs" not in answer.text


async def test_a_page_that_has_its_name_lead_here_reads_nothing():
    async with asking(Settings(), host="rebound.example.com") as http:
        assert (await http.get("/metrics")).status_code == 401


async def test_it_is_read_only():
    async with asking(Settings()) as http:
        answer = await http.post("/metrics")
        head = await http.head("/metrics")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert (head.status_code, head.content) == (200, b"")


async def test_a_store_that_health_calls_away_is_not_up_by_old_figures():
    store, clock = MemoryStore(), StoreClock()
    metrics = make_metrics(store, clock, Settings(), Events())
    reader = HealthReader(store, clock)
    metrics.judge = reader.platform
    assert "tickwell_store_up 1.0" in (await metrics.text())[0].decode()
    metrics.judge = lambda: reader.unreachable(StoreUnavailable("no answer"))
    text = (await metrics.text())[0].decode()
    assert "tickwell_store_up 0.0" in text
    assert "tickwell_slots_unanswered 0.0" not in text
    with pytest.raises(StoreUnavailable):  # not the figures of half a minute ago
        await metrics.document()


async def test_without_metrics_there_is_no_such_page(world, http):
    world.context.metrics = None
    assert (await http.get("http://test/metrics")).status_code == 404


async def test_a_trace_is_shown_as_an_exemplar(world, http):
    counting = world.context.metrics.counting
    counting.trace_of = lambda _: "4bf92f3577b34da6a3ce929d0e0e4736"
    world.events.emit(AttemptsFinished(reports=[a_report(seconds=0.02)]))
    answer = await http.get("http://test/metrics", headers=BEARER | {"accept": PROMETHEUS})
    [line] = [line for line in answer.text.splitlines() if "trace_id" in line]
    assert line.startswith('tickwell_attempt_duration_seconds_bucket{le="0.025",target="call"} 1.0')
    assert '# {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"} 0.02' in line


class Away(MemoryStore):
    """A store that does not answer."""

    async def stats(self, project=None):
        raise StoreUnavailable("away")


@pytest.mark.parametrize(("accept", "status"), [("text/plain", 200), ("application/json", 503)])
async def test_without_the_store_nothing_is_shown_as_zero(accept, status):
    async with asking(Settings(), store=Away()) as http:
        answer = await http.get("/metrics", headers={"accept": accept})
    assert answer.status_code == status
    if status == 200:
        assert "tickwell_store_up 0.0" in answer.text
        assert "tickwell_dead_letters 0" not in answer.text
    else:
        assert answer.json()["status"] == 503


async def test_a_store_that_health_finds_away_is_not_up():
    store, clock = MemoryStore(), StoreClock()
    metrics = make_metrics(store, clock, Settings(), Events())
    await metrics.text()

    async def judge():
        return Health(findings=[Finding("store", Level.RED, "away")], database=False)

    metrics.judge = judge
    assert b"tickwell_store_up 0.0" in (await metrics.text())[0]
