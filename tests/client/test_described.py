"""The clients against the description of the API: nothing missing, nothing made up."""

import inspect
import re
from collections.abc import Mapping
from typing import Any, NotRequired, Required, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from tests.api.test_description import described
from tickwell.client.asynchronous import AsyncClient
from tickwell.client.call import JSON
from tickwell.client.operation import Listing, Operation
from tickwell.client.operations import Operations
from tickwell.client.results import Event, Items, Page
from tickwell.client.stream import stream_events
from tickwell.client.synchronous import Client

DESCRIPTION = described()
#: For browsers: a session's cookie is no way for a program to say who it is.
BROWSERS = {"log_in", "log_out", "set_password", "issue_token"}
#: For Prometheus; clients have `get_metrics`.
SCRAPERS = {"scrape_metrics"}
#: A list that no schema describes: each of its items is an event.
STREAMS = {"stream_events"}
OPERATIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    each["operationId"]: (method.upper(), path, each)
    for path, methods in DESCRIPTION["paths"].items()
    for method, each in methods.items()
}
KNOWN = {name: each for name, each in vars(Operations).items() if isinstance(each, Operation)}
DEFINITION = {"name": "x", "trigger": {"every": "1h"}, "target": {"call": {"handler": "x"}}}
#: A value for each argument; what is not here is a text.
VALUES: dict[str, Any] = {
    "definition": DEFINITION,
    "definitions": [DEFINITION],
    "patch": {"priority": 1},
    "trigger": {"every": "1h"},
    "state": ["active"],
    "states": ["active"],
    "events": ["failed"],
    "limit": 5,
    "count": 5,
    "version": 3,
    "rate": 2.0,
    "payload": {"a": 1},
    "force": True,
    "dry_run": True,
    "platform": True,
    "disabled": True,
    "permissions": ["read"],
    "jobs": 1,
    "fires_per_day": 1,
    "fires_per_minute": 1,
    "requests_per_minute": 1,
    "changes_per_minute": 1,
    "runs_per_minute": 1,
    "running": 1,
    "in_": "10m",
    "debounce": "30s",
    "debounce_max": "5m",
    "overlap": "1h",
    "after": "25h",
    "repeat": "4h",
    "times": 3,
    "age": "7d",
    "every": "1d",
    "grace": "1h",
    "length": "2h",
    "dead": "30d",
}


def resolved(schema):
    while "$ref" in schema:
        schema = DESCRIPTION["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def arguments(build):
    """All that an operation takes."""
    named: dict[str, Any] = {}
    hints = get_type_hints(build)
    for name, each in inspect.signature(build).parameters.items():
        names = [name]
        if each.kind is each.VAR_KEYWORD:
            names = list(get_type_hints(get_args(hints[name])[0]))
        named |= {one: VALUES.get(one, f"some-{one}") for one in names}
    return named


def test_every_operation_is_a_method_of_both_clients():
    assert set(OPERATIONS) - BROWSERS - SCRAPERS == set(KNOWN) | STREAMS
    for client in (Client, AsyncClient):
        assert all(hasattr(client, name) for name in {*KNOWN, *STREAMS})


def test_every_list_with_a_cursor_can_be_read_to_its_end():
    paged = {
        name
        for name, (_, _, each) in OPERATIONS.items()
        if any(one["name"] == "cursor" for one in each.get("parameters", ()))
    }
    listings = [each for each in vars(Operations).values() if isinstance(each, Listing)]
    assert {each.build.__name__ for each in listings} == paged


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_request_is_as_described(name):
    method, path, described = OPERATIONS[name]
    given = arguments(KNOWN[name].build)
    call = KNOWN[name].build(**given)
    parameters = {(each["in"], each["name"]): each for each in described.get("parameters", ())}
    assert call.method == method
    assert re.fullmatch(re.sub(r"\\{\w+\\}", "some-[a-z]+", re.escape(path)), call.path)
    assert {("query", key) for key, _ in call.query} == {
        each for each in parameters if each[0] == "query"
    }
    takes_key = ("header", "Idempotency-Key") in parameters
    assert ("idempotency_key" in given) == takes_key
    if method == "POST":
        assert call.repeatable == takes_key
    assert ("If-Match" in call.headers) == (("header", "If-Match") in parameters)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_keyword_that_is_misspelt_is_refused_before_anything_is_sent(name):
    build = KNOWN[name].build
    with pytest.raises(TypeError, match="unexpected keyword argument 'limits'"):
        build(**arguments(build), limits=None)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_body_is_as_described(name):
    described = OPERATIONS[name][2].get("requestBody")
    call = KNOWN[name].build(**arguments(KNOWN[name].build))
    if described is None:
        assert call.body is None
        return
    ((kind, content),) = described["content"].items()
    schema = resolved(content["schema"])
    assert call.headers.get("Content-Type", JSON) == kind
    _fits(call.body, schema)
    if name not in {"create_job", "replace_job", "patch_job"} and not name.startswith("bulk_"):
        assert set(call.body) == set(schema["properties"])  # nothing that cannot be said


def _fits(value, schema):
    schema = resolved(schema)
    if isinstance(value, Mapping) and "properties" in schema:
        assert set(value) <= set(schema["properties"])
        assert set(schema.get("required", ())) <= set(value)
        for key, each in value.items():
            _fits(each, schema["properties"][key])


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_an_answer_is_as_described(name):
    (result,) = get_args(get_type_hints(KNOWN[name].build)["return"])
    answers = OPERATIONS[name][2]["responses"]
    (schema,) = [
        answers[status]["content"][JSON]["schema"] for status in answers if status[0] == "2"
    ]
    _same(result, schema)


def _required(kind):
    """`__required_keys__` does not see through annotations that are texts."""
    marks = {
        name: get_origin(hint) for name, hint in get_type_hints(kind, include_extras=True).items()
    }
    chosen = {name for name, mark in marks.items() if mark is Required}
    return {
        name for name, mark in marks.items() if kind.__total__ and mark is not NotRequired
    } | chosen


def _same(kind, schema):
    """A type and a schema have the same fields, all the way down."""
    schema = resolved(schema)
    if get_origin(kind) in {Items, Page}:
        (item,) = get_args(kind)
        names = {"items"} | ({"next_cursor"} if get_origin(kind) is Page else set())
        assert set(schema["properties"]) == names
        _same(item, schema["properties"]["items"]["items"])
    elif is_typeddict(kind):
        hints = get_type_hints(kind)
        # What a key that may read is answered comes first; less for one that may not.
        schema = resolved(schema.get("anyOf", [schema])[0])
        assert set(hints) == set(schema["properties"]), kind
        assert _required(kind) == set(schema.get("required", ())), kind
        for key, hint in hints.items():
            _same(hint, schema["properties"][key])
    elif get_origin(kind) is list:
        _same(get_args(kind)[0], _member(schema, "items").get("items", {}))
    elif any(is_typeddict(each) for each in get_args(kind)):
        (inner,) = [each for each in get_args(kind) if is_typeddict(each)]
        _same(inner, _member(schema, "$ref"))


def _member(schema, key):
    """The part of a schema that is not null."""
    return next((each for each in schema.get("anyOf", ()) if key in each), schema)


def test_the_stream_of_events_is_where_it_is_described():
    method, path, _ = OPERATIONS["stream_events"]
    assert (stream_events().method, stream_events().path) == (method, path)
    assert "data" in get_type_hints(Event)
