"""An error that crosses the wire is the same error on the other side."""

import json
from typing import cast

import pytest
from fastapi import Request

from tickwell import errors
from tickwell.client.refusal import refusal
from tickwell.services.access.actor import Permission
from tickwell.services.operations.job_bodies import SeveralInvalid
from tickwell.web.problems import on_error

NASTY = "it's a \"name\" \\ 'x' is 5; only"
SAME = [
    errors.NotFound("job", NASTY),
    errors.NotFound("project", "other"),
    errors.JobExists(NASTY),
    errors.VersionConflict(NASTY, 3, 12),
    errors.WrongState("execution", NASTY, "dead", "a live one can be cancelled"),
    errors.Conflict("somebody was faster"),
    errors.Unauthenticated("show a key"),
    errors.Forbidden(Permission.EDIT, "key:x"),
    errors.LimitReached("too many", retry_after=7, hint="Wait"),
    errors.LimitReached("your limit is 10 jobs"),
    errors.InvalidInput("is not a text", field="target.http.headers.a/b~c", hint="Use a text"),
    errors.InvalidInput("a.b: is not a time", field="a.b.hour", hint="Use 9: it is one"),
    errors.InvalidInput("nothing says when"),
]


async def crossed(error):
    request = Request({"type": "http", "state": {"request_id": "r", "body": b'{"a.b": "c"}'}})
    answer = await on_error(request, error)
    after = answer.headers.get("retry-after")
    document = json.loads(bytes(answer.body))
    return refusal(answer.status_code, document, "GET /", float(after) if after else None)


@pytest.mark.parametrize("error", SAME, ids=lambda each: type(each).__name__)
async def test_it_is_the_same(error):
    found = await crossed(error)
    assert (type(found), str(found)) == (type(error), str(error))
    mine = {name: value for name, value in vars(error).items() if name not in {"reason", "hint"}}
    assert {name: getattr(found, name) for name in mine} == mine


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.InvalidTrigger("no", field="cron"), errors.InvalidInput),
        (errors.UnknownHandler("x"), errors.InvalidInput),
        (errors.StoreUnavailable("db.internal:5432 is gone"), errors.StoreUnavailable),
        (errors.StoreFull("/var is full"), errors.StoreError),
        (errors.NotRunning("stopped"), errors.NotRunning),
    ],
    ids=lambda each: getattr(each, "__name__", type(each).__name__),
)
async def test_it_is_at_least_of_its_kind(error, kind):
    found = await crossed(error)
    assert type(found) is kind
    assert "internal" not in str(found)


async def test_several_places_are_all_named():
    wrong: list[errors.InvalidInput] = [
        errors.InvalidJob("a", field="jobs.0.name"),
        errors.InvalidJob("b", field="jobs.1"),
    ]
    found = cast("errors.InvalidInput", await crossed(SeveralInvalid(wrong)))
    assert found.field == "jobs.0.name"
    assert str(found).endswith("jobs.0.name: a; jobs.1: b")
