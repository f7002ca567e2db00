"""A test request from the editor: sent once, guarded, shown, not recorded."""

import json

import pytest

from tests.ui.house import OWNER, House
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.access.permission import Role
from tickwell.testing.receiver import Answer, Receiver

SECRET = "canary-of-a-secret"


@pytest.fixture
def receiver():
    with Receiver() as found:
        yield found


def typed(url, **http):
    target = {"http": {"url": url} | http}
    document = {"name": "hook", "trigger": {"every": "1h"}, "target": target, "payload": {"a": 7}}
    return {"side": "document", "document": json.dumps(document)}


async def test_what_came_back_is_shown_and_nothing_recorded(house, receiver):
    await house.administration.secrets.set(OWNER, "token", SECRET)
    said = f"<b>hello</b> {SECRET}".encode()
    receiver.answer(Answer(status=201, body=said, headers={"x-kind": f"<i>test</i> {SECRET}"}))
    browser = await house.login()
    await browser.get("/jobs/new")
    url = receiver.url("/in?x=1")
    headers = {"Authorization": "Bearer {{secret.token}}"}
    answer = await browser.post("/jobs/try", **typed(url, headers=headers))
    assert answer.status_code == 200
    for part in ("<dd>201</dd>", "&lt;b&gt;hello&lt;/b&gt; ***", "&lt;i&gt;test&lt;/i&gt; ***"):
        assert part in answer.text, part
    assert SECRET not in answer.text
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", "/in?x=1")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert json.loads(request.body) == {"a": 7}
    assert (await house.store.list_jobs(JobFilter(project="default"))).items == []
    assert (await house.store.list_executions(ExecutionFilter(project="default"))).items == []
    log = await house.administration.audit.list(OWNER)
    assert [entry.action for entry in log.items][:1] == ["job.try"]


async def test_a_failure_is_shown_as_one(house, receiver):
    receiver.answer(500)
    browser = await house.login()
    await browser.get("/jobs/new")
    answer = await browser.post("/jobs/try", **typed(receiver.url("/")))
    assert "HTTP 500" in answer.text
    assert len(receiver.requests) == 1


async def test_it_goes_nowhere_that_no_attempt_may_go(tmp_path, receiver):
    async with House(tmp_path, allow_private=()) as house:
        browser = await house.login()
        await browser.get("/jobs/new")
        answer = await browser.post("/jobs/try", **typed(receiver.url("/")))
        assert "is not a public address" in answer.text
        assert receiver.requests == []


async def test_only_webhooks_that_are_right_are_tried(house):
    browser = await house.login()
    await browser.get("/jobs/new")
    call = {"name": "x", "trigger": {"every": "1h"}, "target": {"call": {"handler": "x"}}}
    answer = await browser.post("/jobs/try", side="document", document=json.dumps(call))
    assert "only a webhook can be tried out" in answer.text
    answer = await browser.post("/jobs/try", **typed("nonsense"))
    assert "Mend the fields" in answer.text


@pytest.mark.parametrize(("role", "status"), [(Role.OPERATOR, 403), (Role.EDITOR, 200)])
async def test_who_may(house, receiver, role, status):
    await house.administration.members.set(OWNER, "ada", role)
    browser = await house.login("ada")
    await browser.get("/jobs")
    answer = await browser.post("/jobs/try", **typed(receiver.url("/")))
    assert answer.status_code == status
    assert len(receiver.requests) == (status == 200)
