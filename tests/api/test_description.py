"""The description of the API is true, and every operation answers its example."""

import random
import re
from typing import Any

import pytest

from tests.api.serving import Serving
from tests.docs import pages
from tickwell.api.app import create_app
from tickwell.api.context import Context
from tickwell.clock import StoreClock
from tickwell.domain.health import Health
from tickwell.services.operations import Tools
from tickwell.stores.memory import MemoryStore

TAGS = {"jobs", "executions", "dead letters", "queues", "workers", "bulk", "previews", "health"}


def described() -> dict[str, Any]:
    tools = Tools(
        store=MemoryStore(), clock=StoreClock(), random=random.Random(1), wake=lambda: None
    )
    return create_app(Context.over(tools, health=lambda: Health(ok=True))).openapi()


@pytest.fixture(scope="module")
def serving():
    with Serving() as serving:
        yield serving


QUERIES: dict[str, dict[str, str]] = {
    "preview_cron": {"expr": "0 9 * * mon-fri"},
    "job_slots": {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"},
}
#: Bodies that need something that was made before, or have no example.
BODIES: dict[str, Any] = {
    "rotate_key": {},
    "change_user": {"disabled": True},
    "set_password": {"new": "correct horse battery"},
}
#: An answer without an end.
STREAMS = {"stream_events"}


def operations_of(document):
    """All of them; what changes who one is comes last."""
    found = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in STREAMS
    ]
    return sorted(found, key=lambda each: "session" in each[0])


def body_of(serving, operation, values):
    name = operation["operationId"]
    if name == "log_in":
        user = serving.seeds.values("", "/users/{name}")["name"]
        return {"link": serving.http.post(f"/users/{user}/link").json()["link"]}
    content = operation.get("requestBody", {}).get("content", {})
    body: Any = [*content.values(), {}][0].get("example", BODIES.get(name))
    return body | {"name": values["key"]} if name == "replace_job" else body


def test_every_operation_answers_its_example():
    with Serving() as serving:
        document = serving.http.get("/openapi.json").json()
        asked = set()
        for path, method, operation in operations_of(document):
            name = operation["operationId"]
            values = serving.seeds.values(name, path)
            answer = serving.http.request(
                method,
                serving.url + path.format(**values),
                params=QUERIES.get(name),
                json=body_of(serving, operation, values),
                headers={"if-match": "*"},
            )
            assert answer.is_success, (name, answer.text)
            asked.add(name)
        assert len(asked) > 60


def test_the_page_lists_every_operation_with_its_permission():
    rows = {
        (method, path): cells[2]
        for cells in pages.rows(pages.text_of("api"))
        if len(cells) == 3
        for method, path in re.findall(r"`([A-Z]+) (/[^`?]*)", cells[0])
    }
    known = {
        (method.upper(), path.removeprefix("/api/v1")): operation["x-permission"]
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/v1")
    }
    assert {name: rows.get(name) for name in known} == known


def test_the_description_is_openapi_3_1_and_documents_everything(serving):
    document = serving.http.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    names = []
    for methods in document["paths"].values():
        for operation in methods.values():
            names.append(operation["operationId"])
            assert operation["description"]
            assert operation["summary"]
            assert operation["tags"]
            if "requestBody" in operation and TAGS & set(operation["tags"]):
                assert "example" in next(iter(operation["requestBody"]["content"].values()))
    assert len(names) == len(set(names))
