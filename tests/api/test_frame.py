"""What all routes share: permissions, headers, problems, health."""

from typing import Any

import pytest
from fastapi import Request
from fastapi.responses import StreamingResponse

from tests.api.conftest import CALL
from tickwell.api.http.edge import Edge
from tickwell.api.http.forwarded import Forwarded
from tickwell.api.http.route import OperationRoute
from tickwell.domain.health import ProcessHealth
from tickwell.errors import NotRunning, StoreUnavailable, Unauthenticated
from tickwell.services.access.actor import Permission, Role, permissions_of
from tickwell.services.operations.declaration import Call, Group
from tickwell.services.operations.schema import Output
from tickwell.web.context import Context

WORDS = {permission.value for permission in Permission} | {"public"}


async def test_every_route_declares_one_permission(world):
    routes = [route for route in world.app.routes if isinstance(route, OperationRoute)]
    assert len(routes) > 60
    for route in routes:
        assert route.permission in WORDS
    document = (await world.http.get("http://test/api/v1/openapi.json")).json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["x-permission"] in WORDS, (method, path)
            assert operation["operationId"]


async def test_an_application_without_access_is_shut(world):
    given = Context.over(world.operation_context, health=lambda: world.health)
    world.app.state.context = given
    assert (await world.http.get("/jobs")).status_code == 503
    assert (await world.http.post("/jobs", json={"name": "x"})).status_code == 503
    assert (await world.http.get("http://test/api/v1")).status_code == 503
    for public in ("/openapi.json", "http://test/health"):
        assert (await world.http.get(public)).status_code == 200
    with pytest.raises(NotRunning):
        await given.visit(Request({"type": "http"}))
    await given.close()


def test_a_handler_that_does_not_take_what_its_path_names_is_a_mistake():
    async def look(call: Call) -> dict[str, str]:
        return {}

    with pytest.raises(TypeError, match="look does not take"):
        Group("x").get("/x/{id}", Permission.READ, Output)(look)


ROUTES = [
    ("GET", "/jobs", Permission.READ),
    ("POST", "/jobs", Permission.EDIT),
    ("PUT", "/jobs/report", Permission.EDIT),
    ("POST", "/jobs/report/trigger", Permission.OPERATE),
    ("POST", "/bulk/delete", Permission.EDIT),
    ("POST", "/bulk/pause", Permission.OPERATE),
    ("GET", "/events", Permission.READ),
    ("POST", "/queues/a/pause", Permission.PLATFORM),
]


@pytest.mark.parametrize(("method", "path", "needed"), ROUTES)
async def test_rights_are_checked_before_the_body_is_read(world, http, method, path, needed):
    async def never():
        raise AssertionError("it was read")
        yield b""

    for role in Role:
        if needed in permissions_of(role):
            continue
        world.as_actor(*permissions_of(role))
        answer = await http.request(method, path, content=never())
        assert answer.status_code == 403
        assert answer.json()["type"] == "urn:tickwell:problem:forbidden"


async def test_other_projects_do_not_exist(world, http):
    job = await world.add()
    run = (await http.post("/jobs/report/trigger")).json()
    cursor_page = await http.get("/jobs", params={"limit": 1})
    assert cursor_page.status_code == 200
    world.as_actor(*Permission, project="other")
    for method, path in (
        ("GET", f"/jobs/{job['id']}"),
        ("GET", "/jobs/report"),
        ("DELETE", f"/jobs/{job['id']}"),
        ("POST", f"/jobs/{job['id']}/trigger"),
        ("GET", f"/jobs/{job['id']}/history"),
        ("GET", f"/executions/{run['id']}"),
        ("POST", f"/executions/{run['id']}/cancel"),
        ("GET", f"/executions?job={job['id']}"),
    ):
        answer = await http.request(method, path)
        assert answer.status_code == 404, path
    assert (await http.get("/jobs")).json()["items"] == []
    assert (await http.get("/executions")).json()["items"] == []
    body = {"name": "report", "trigger": {"on_demand": True}, "target": CALL}
    assert (await http.post("/jobs", json=body)).status_code == 201


async def test_strangers_are_told_how_to_introduce_themselves(world, http):
    async def nobody(request):
        raise Unauthenticated("send a key")

    world.context.authenticate = nobody
    answer = await http.get("/jobs")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_every_answer_has_its_headers(http):
    for path in ("/jobs", "/nothing", "http://test/health"):
        headers = (await http.get(path, headers={"x-request-id": "mine-1"})).headers
        assert headers["x-request-id"] == "mine-1"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["cache-control"] == "no-store"
    bad = await http.get("/jobs", headers={"x-request-id": "<script>"})
    assert "<" not in bad.headers["x-request-id"]


async def test_a_store_that_is_away_is_503_and_says_nothing_of_itself(world, http, monkeypatch):
    async def away(*_arguments, **_options):
        raise StoreUnavailable("secret-host:5432 does not answer")

    monkeypatch.setattr(world.store, "list_jobs", away)
    answer = await http.get("/jobs")
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    assert "secret-host" not in answer.text


async def test_a_bug_is_500_with_a_request_id_and_nothing_else(world, http, monkeypatch, caplog):
    async def bug(*_arguments, **_options):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(world.store, "list_jobs", bug)
    answer = await http.get("/jobs")
    assert answer.status_code == 500
    assert answer.json()["type"] == "urn:tickwell:problem:internal"
    assert "secret" not in answer.text
    assert answer.json()["request_id"] in caplog.text
    monkeypatch.setattr(world.store, "get_jobs", bug)
    await http.get("/jobs/x%0aERROR%20made%20up")
    assert "made up" in caplog.messages[-1]
    assert "\n" not in caplog.messages[-1]  # else it would pass for a line of ours


async def test_health_for_people_and_probes(world, http, monkeypatch):
    alive = {"status": "healthy", "service": "scheduler"}
    assert (await http.get("http://test/healthz")).json() == alive
    for path in ("health", "readyz"):
        answer = await http.get(f"http://test/{path}")
        no_worker = {"status": "degraded", "service": "scheduler", "level": "amber"}
        assert (answer.status_code, answer.json()) == (200, no_worker)
    details = (await http.get("http://test/health/detailed")).json()
    assert (details["database"], details["scheduler_service"]) == ("connected", "running")
    assert (details["redis"], details["level"]) == ("not configured", "amber")
    world.health = ProcessHealth(ok=True, full=["all capacity for tasks is in use"])
    details = await http.get("http://test/health/detailed")
    found = {each["check"]: each for each in details.json()["findings"]}
    assert details.status_code == 200
    assert found["capacity"]["text"] == "all capacity for tasks is in use"
    world.health = ProcessHealth(ok=False, problems=["planner: it fails"])
    for path, status in (("health", 503), ("readyz", 503), ("healthz", 200)):
        assert (await http.get(f"http://test/{path}")).status_code == status
    details = await http.get("http://test/health/detailed")
    assert (details.status_code, details.json()["status"]) == (503, "unhealthy")
    worst = details.json()["findings"][0]
    assert (worst["check"], worst["level"], worst["text"]) == (
        "process",
        "red",
        "planner: it fails",
    )
    world.as_actor()
    assert (await http.get("http://test/health/detailed")).status_code == 403
    assert (await http.get("http://test/health")).status_code == 503


async def test_where_the_store_is_is_told_to_the_platform_alone(world, http):
    problems = ["planner: db.internal:5432 does not answer", "the engine is not running"]
    world.health, name = ProcessHealth(ok=False, problems=problems), world.store.name
    kind = name.partition(":")[0]
    told = [["planner fails", "the engine is not running"], problems]
    admin = frozenset(Permission) - {Permission.PLATFORM}
    for permissions, shown, why in ((admin, kind, told[0]), (Permission, name, told[1])):
        world.as_actor(*permissions)
        details = (await http.get("http://test/health/detailed")).json()
        problems = [each["text"] for each in details["findings"] if each["check"] == "process"]
        assert (details["store"], problems) == (shown, why)
        checkup = (await http.get("/checkup")).json()["items"]
        [store] = [each for each in checkup if each["check"] == "store"]
        assert store["text"].startswith(f"{shown} answers")


@pytest.mark.parametrize(
    ("peer", "said", "seen"),
    [
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("203.0.113.7", "6.6.6.6", "203.0.113.7"),
    ],
)
async def test_only_trusted_proxies_are_believed(peer, said, seen):
    scopes = []

    async def application(scope, receive, send):
        scopes.append(scope)

    headers = [(b"x-forwarded-proto", b"https")]
    headers += [(b"x-forwarded-for", said.encode())] if said else []
    scope = {"type": "http", "client": (peer, 1), "headers": headers, "scheme": "http"}
    forwarded: Any = Forwarded(application, ("10.0.0.0/8",))
    await forwarded(scope, None, None)
    (got,) = scopes
    assert got["client"][0] == seen
    assert got["scheme"] == ("http" if peer.startswith("203") else "https")


async def test_a_method_that_is_not_offered_is_answered_with_those_that_are(world):
    answer = await world.http.request("OPTIONS", "/jobs/report")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, HEAD, PATCH, PUT"


@pytest.mark.parametrize("at", ["/api/v1", "/api"])
async def test_the_address_of_the_api_says_what_it_is_and_where_to_go_on(http, at):
    answer = await http.get(f"http://test{at}")
    assert answer.status_code == 200
    found = answer.json()
    assert (found.pop("name"), found.pop("version")) == ("Tickwell", "1")
    assert list(found) == ["description", "jobs", "executions"]
    for path in found.values():
        assert (await http.get(f"http://test{path}")).status_code == 200


@pytest.mark.parametrize("path", ["/jobs", "/jobs/none", "/openapi.json", "http://test/health"])
async def test_a_head_is_that_of_the_whole_answer(http, path):
    named = {"x-request-id": "the-same"}
    whole, head = await http.get(path, headers=named), await http.head(path, headers=named)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    for name in ("content-type", "content-length", "cache-control"):
        assert head.headers[name] == whole.headers[name]


async def test_of_a_stream_nothing_is_made_for_its_head():
    made, sent = [], []

    async def parts():
        for number in range(5):
            made.append(number)
            yield b"part"

    async def receive():
        raise AssertionError("by this version of ASGI a stream ends where it cannot be sent")

    async def send(message):
        sent.append(message["type"])

    asgi = {"version": "3.0", "spec_version": "2.4"}
    scope = {"type": "http", "method": "HEAD", "path": "/", "scheme": "http", "headers": []}
    await Edge(StreamingResponse(parts()))(scope | {"asgi": asgi}, receive, send)
    assert sent == ["http.response.start", "http.response.body"]
    assert made == [0]


async def test_the_head_of_a_stream_has_an_end(world, http):
    answer = await http.head("/events")
    assert answer.headers["content-type"] == "text/event-stream"
    assert world.context.feed.listeners == 0
