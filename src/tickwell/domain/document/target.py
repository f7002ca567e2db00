"""Targets in a document: an object with one field, the kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from tickwell.domain.celery import Celery
from tickwell.domain.document.shape import Field, Shape
from tickwell.domain.document.shared_values import remembered
from tickwell.domain.document.values import (
    ANY,
    DURATION,
    FLAG,
    TEXT,
    TEXTS,
    WHOLE,
    Unfit,
    Value,
    optional,
)
from tickwell.domain.external import External
from tickwell.domain.http import Basic, Bearer, Http, Json, OAuth
from tickwell.domain.target import Call, Target
from tickwell.errors import InvalidInput, InvalidJob


def _kinds(shapes: Mapping[str, Shape[Any]], names: Mapping[type, str]) -> Value:
    """An object with one field that says which of several records it holds."""

    def read(document: Any) -> Any:
        if not isinstance(document, dict) or len(document) != 1:
            raise Unfit(f"is not an object with one of {', '.join(shapes)}")
        [(kind, inner)] = document.items()
        if kind not in shapes:
            raise Unfit(f"{kind!r} is not one of {', '.join(shapes)}")
        try:
            return shapes[kind].read(inner)
        except Unfit as error:
            raise Unfit(f"{kind} {error}") from None

    def write(record: Any) -> dict[str, Any]:
        name = names[type(record)]
        return {name: shapes[name].write(record)}

    return Value(read, write)


def _read_pairs(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unfit("is not an object")
    return value


def _read_list(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Unfit("is not a list")
    return tuple(value)


def _read_statuses(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(code) is int for code in value):
        raise Unfit("is not a list of status codes")
    return tuple(value)


def _write_pairs(pairs: Mapping[str, Any]) -> dict[str, Any]:
    return dict(pairs.items())


_PAIRS = Value(_read_pairs, _write_pairs)
_AUTH = _kinds(
    {
        "basic": Shape(
            Basic,
            "target.http.auth.basic",
            {"user": Field(TEXT, "tickwell"), "password": Field(TEXT, "{{secret.password}}")},
        ),
        "bearer": Shape(
            Bearer, "target.http.auth.bearer", {"token": Field(TEXT, "{{secret.token}}")}
        ),
        "oauth": Shape(
            OAuth,
            "target.http.auth.oauth",
            {
                "token_url": Field(TEXT, "https://example.com/token"),
                "client_id": Field(TEXT, "tickwell"),
                "client_secret": Field(TEXT, "{{secret.client}}"),
                "scope": Field(TEXT, "hooks"),
                "audience": Field(TEXT, "https://example.com"),
            },
        ),
    },
    {Basic: "basic", Bearer: "bearer", OAuth: "oauth"},
)


def _body_field(sent_as: str, field: str) -> str:
    """The field of a mistake, with the body under the name that the document has for it."""
    return f"target.http.{sent_as}" if field == "target.http.body" else field


class _HttpShape(Shape[Http]):
    """In a document the kind of body is said by its field: `json` or `text`."""

    def read(self, document: Any) -> Http:
        if not isinstance(document, dict):
            return super().read(document)
        inner, bodies, sent_as = dict(document), list[Any](), "body"
        if "json" in inner:
            sent_as = "json"
            bodies.append(Json(inner.pop("json")))
        if inner.get("text") is not None:
            if not isinstance(inner["text"], str):
                raise InvalidJob("is not a text", field="target.http.text", hint="Or use json")
            sent_as = "text"
            bodies.append(inner["text"])
        inner.pop("text", None)
        if inner.get("body") is not None:
            bodies.append(inner["body"])
        if len(bodies) > 1:
            raise InvalidJob("json, text and body are mutually exclusive", field="target.http")
        if bodies:
            inner["body"] = bodies[0]
        try:
            return super().read(inner)
        except InvalidInput as error:
            raise error.placed(partial(_body_field, sent_as)) from None

    def write(self, record: Http, *, whole: bool = False) -> dict[str, Any]:
        document = super().write(record, whole=whole)
        body = document.pop("body", None)
        if isinstance(body, Json):
            document["json"] = body.value
        elif body is not None:
            document["text"] = body
        return document


_HTTP = _HttpShape(
    Http,
    "target.http",
    {
        "url": Field(TEXT, "https://example.com/hook"),
        "method": Field(TEXT, "POST"),
        "headers": Field(_PAIRS, {"X-Team": "billing"}),
        "query": Field(_PAIRS, {"at": "{{fire_time}}"}),
        "body": Field(ANY, {"id": "{{execution_id}}"}),
        "auth": Field(optional(_AUTH), {"bearer": {"token": "{{secret.token}}"}}),
        "sign_with": Field(TEXTS, ["{{secret.hook}}"]),
        "certificate": Field(optional(TEXT), "{{secret.certificate}}"),
        "timeout": Field(DURATION, "30s"),
        "retry_on": Field(Value(_read_statuses, list), [408, 425, 429]),
        "keep": Field(WHOLE, 1000),
    },
    independent=True,
)
_CALL = Shape(Call, "target.call", {"handler": Field(TEXT, "send_report")})
_CELERY = Shape(
    Celery,
    "target.celery",
    {
        "task": Field(TEXT, "shop.tasks.charge"),
        "args": Field(Value(_read_list, list), [7]),
        "kwargs": Field(_PAIRS, {"order": 7}),
        "queue": Field(TEXT, "billing"),
        "exchange": Field(TEXT, "billing"),
        "routing_key": Field(TEXT, "billing.high"),
        "priority": Field(optional(WHOLE), 5),
        "wait": Field(FLAG, example=False),
    },
)
_EXTERNAL = Shape(External, "target.external", {})
_TARGET = _kinds(
    {"call": _CALL, "celery": _CELERY, "external": _EXTERNAL, "http": _HTTP},
    {Call: "call", Celery: "celery", External: "external", Http: "http"},
)


def _read(document: Any) -> Target:
    target: Target = _TARGET.read(document)
    return target


TARGET = remembered(Value(_read, _TARGET.write))
