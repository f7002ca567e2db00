"""The description of the API is true, and every operation answers its example."""

import random
import re
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import jsonschema_rs
import pytest

from tests.api.serving import Serving, kept_in
from tests.docs import pages
from tickwell.api.app import create_app
from tickwell.clock import StoreClock
from tickwell.domain.health import ProcessHealth
from tickwell.services.operations import OperationContext
from tickwell.stores.memory import MemoryStore
from tickwell.web.context import Context


def described() -> dict[str, Any]:
    operation_context = OperationContext(
        store=MemoryStore(), clock=StoreClock(), random=random.Random(1), wake=lambda: None
    )
    return create_app(
        Context.over(operation_context, health=lambda: ProcessHealth(ok=True))
    ).openapi()


@pytest.fixture(scope="module")
def serving():
    with Serving() as serving:
        yield serving


QUERIES: dict[str, dict[str, str]] = {
    "preview_cron": {"expr": "0 9 * * mon-fri"},
    "job_slots": {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"},
}
#: Not for what others may have come by: a key, a token.
IN_PERSON = {"issue_token", "set_password"}
#: An answer without an end.
STREAMS = {"stream_events"}


def operations_of(document):
    """All of them: health before any work is late, what changes the caller's rights last."""
    found = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation["operationId"] not in STREAMS
    ]
    return sorted(found, key=lambda each: ("session" in each[0]) - ("health" in each[0]))


@contextmanager
def in_person(serving):
    """A client with a session instead of a token."""
    link = serving.http.post("/users/root/link").json()["link"]
    with httpx.Client(base_url=serving.http.base_url, timeout=60) as client:
        csrf = client.post("/session", json={"link": link}).json()["csrf"]
        client.headers["x-csrf-token"] = csrf
        yield client


def body_of(serving, operation, values):
    name = operation["operationId"]
    if name == "log_in":
        user = serving.seeds.values("", "/users/{name}")["name"]
        return {"link": serving.http.post(f"/users/{user}/link").json()["link"]}
    content = operation.get("requestBody", {}).get("content", {})
    body: Any = [*content.values(), {}][0].get("example")
    return body | {"name": values["key"]} if name == "replace_job" else body


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_every_operation_answers_its_example(kind, tmp_path):
    with Serving(kept_in(kind, tmp_path)) as serving, ExitStack() as stack:
        document = serving.http.get("/openapi.json").json()
        asked = set()
        for path, method, operation in operations_of(document):
            name = operation["operationId"]
            values = serving.seeds.values(name, path)
            http = stack.enter_context(in_person(serving)) if name in IN_PERSON else serving.http
            answer = http.request(
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
            for content in operation.get("requestBody", {}).get("content", {}).values():
                whole = content["schema"] | {"components": document["components"]}
                validate(content["example"], whole)
    assert len(names) == len(set(names))


def validate(example, schema):
    found = jsonschema_rs.Draft202012Validator(schema).iter_errors(example)
    assert [error.message for error in found] == []


def test_a_schema_s_own_examples_are_of_it():
    schemas = described()["components"]["schemas"]
    seen = 0
    for shape in schemas.values():
        for field in shape.get("properties", {}).values():
            for example in field.get("examples", ()):
                validate(example, field | {"components": {"schemas": schemas}})
                seen += 1
    assert seen > 20
