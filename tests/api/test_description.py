"""The description of the API is true: it is fuzzed, and every operation answers its example."""

import random
import re
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import checks
from schemathesis.generation import GenerationMode

from tests.api.serving import Serving
from tests.docs import pages
from tickwell.api.app import create_app
from tickwell.api.context import Context
from tickwell.clock import StoreClock
from tickwell.domain.health import Health
from tickwell.services.operations import Tools
from tickwell.stores.memory import MemoryStore

#: Requests for each operation, good and bad ones.
BUDGET = 25
TAGS = {"jobs", "executions", "dead letters", "queues", "workers", "bulk", "previews", "health"}
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def described() -> dict[str, Any]:
    tools = Tools(
        store=MemoryStore(), clock=StoreClock(), random=random.Random(1), wake=lambda: None
    )
    return create_app(Context.over(tools, health=lambda: Health(ok=True))).openapi()


SCHEMA = schemathesis.openapi.from_dict(described())
ALL_OPERATIONS: list[Any] = [result.ok() for result in SCHEMA.get_all_operations()]  # type: ignore[union-attr]
OPERATIONS = [operation for operation in ALL_OPERATIONS if TAGS & set(operation.tags or ())]


@pytest.fixture(scope="module")
def serving():
    with Serving() as serving:
        yield serving


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.label)
def test_no_request_is_a_server_error(operation, serving):
    known = {"key": "report", "id": serving.ids["dead"], "name": "default"}
    good = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    bad = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @settings(
        max_examples=BUDGET,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(good, bad), finds=st.booleans())
    def fuzz(case, finds):
        if finds and case.path_parameters:
            case.path_parameters = {
                name: known.get(name, value) for name, value in case.path_parameters.items()
            }
        if isinstance(case.body, dict) and "delete" in operation.label:
            case.body["dry_run"] = True
        case.validate_response(case.call(base_url=serving.url), checks=CHECKS)

    fuzz()


QUERIES: dict[str, dict[str, str]] = {
    "preview_cron": {"expr": "0 9 * * mon-fri"},
    "job_slots": {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"},
}


def test_every_operation_answers_its_example():
    with Serving() as serving:
        ids: dict[str, str] = serving.ids
        known: dict[str, str] = {
            "cancel_execution": ids["live"],
            "get_revival": ids["revival"],
            "get_worker": ids["worker"],
        }
        with httpx.Client(base_url=serving.url) as http:
            document = http.get("/api/v1/openapi.json").json()
            operations = [
                (path, method, operation)
                for path, methods in document["paths"].items()
                for method, operation in methods.items()
                if TAGS & set(operation["tags"])
            ]
            # What takes the job away comes last, and what needs a pause after the pause.
            operations.sort(key=lambda each: "delete" in each[2]["operationId"])
            for path, method, operation in operations:
                name = operation["operationId"]
                values = {"key": "report", "id": known.get(name, ids["dead"]), "name": "default"}
                content = operation.get("requestBody", {}).get("content", {})
                body: Any = [*content.values(), {}][0].get("example")
                if name == "replace_job":
                    body = body | {"name": "report"}
                answer = http.request(
                    method,
                    path.format(**values),
                    params=QUERIES.get(str(name)),
                    json=body,
                    headers={"if-match": "*"},
                )
                assert answer.is_success, (name, answer.text)


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
    document = httpx.get(f"{serving.url}/api/v1/openapi.json").json()
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
