"""A test request from the editor: sent once, guarded, shown, not recorded."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.ui.house import OWNER, House
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.trigger import OnDemand
from tickwell.errors import LimitReached
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.access.actor import Role
from tickwell.services.operations import trials
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
    await house.admin.secrets.set(OWNER, "token", SECRET)
    said = f"<b>hello</b> {SECRET}".encode()
    receiver.answer(Answer(status=201, body=said, headers={"x-kind": f"<i>test</i> {SECRET}"}))
    browser = await house.login()
    await browser.get("/jobs/new")
    url = receiver.url("/in?x=1&key=canary")
    headers = {"Authorization": "Bearer {{secret.token}}"}
    answer = await browser.post("/jobs/try", **typed(url, headers=headers))
    assert answer.status_code == 200
    for part in ("<dd>201</dd>", "&lt;b&gt;hello&lt;/b&gt; ***", "&lt;i&gt;test&lt;/i&gt; ***"):
        assert part in answer.text, part
    assert SECRET not in answer.text
    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", "/in?x=1&key=canary")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert json.loads(request.body) == {"a": 7}
    assert (await house.store.list_jobs(JobFilter(project="default"))).items == []
    assert (await house.store.list_executions(ExecutionFilter(project="default"))).items == []
    log = await house.admin.audit.list(OWNER)
    assert [entry.action for entry in log.items][:1] == ["job.try"]
    assert "canary" not in str(log.items[0].after)


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
    assert "Fix the marked fields" in answer.text


@pytest.mark.parametrize(("role", "status"), [(Role.OPERATOR, 403), (Role.EDITOR, 200)])
async def test_who_may(house, receiver, role, status):
    await house.admin.members.set(OWNER, "ada", role)
    browser = await house.login("ada")
    await browser.get("/jobs")
    answer = await browser.post("/jobs/try", **typed(receiver.url("/")))
    assert answer.status_code == status
    assert len(receiver.requests) == (status == 200)


class Hanging:
    """A sender that gets no answer."""

    def __init__(self):
        self.began, self.ended = asyncio.Event(), asyncio.Event()
        self.running = 0

    async def run(self, _claim):
        self.running += 1
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.running -= 1
            self.ended.set()

    async def close(self):
        """Nothing to hang up."""


@pytest.fixture
def hanging(house):
    house.context.operations.trials.context.sender = found = Hanging()
    return found


async def test_it_ends_after_a_while_and_says_so(house, hanging, monkeypatch):
    monkeypatch.setattr(trials, "LONGEST", 0.01)
    browser = await house.login()
    await browser.get("/jobs/new")
    answer = await browser.post("/jobs/try", **typed("https://example.com", timeout="1h"))
    assert "no answer in full within 0.01 s, the most that a test request gets" in answer.text
    assert "saved, the job waits for 1h" in answer.text
    assert hanging.running == 0


async def test_a_project_has_a_few_at_once(house, hanging):
    send = house.context.operations.trials.send
    job = Job(id="", name="x", trigger=OnDemand(), target=Http("https://example.com"))
    under_way = [asyncio.create_task(send(OWNER, job)) for _ in range(trials.MOST)]
    while hanging.running < trials.MOST:  # noqa: ASYNC110 - nobody tells of the last
        await asyncio.sleep(0)
    refusal = "5 test requests of this project are in progress"
    with pytest.raises(LimitReached, match=refusal) as last:
        await send(OWNER, job)
    assert last.value.retry_after
    browser = await house.login()
    await browser.get("/jobs/new")
    refused = await browser.post("/jobs/try", **typed("https://example.com"))
    assert (refused.status_code, "5 test requests" in refused.text) == (429, True)
    shown = await browser.post(
        "/jobs/try", headers={"hx-request": "true"}, **typed("https://example.com")
    )
    assert (shown.status_code, "5 test requests" in shown.text) == (200, True)
    other = asyncio.create_task(send(replace(OWNER, project="other"), job))
    while hanging.running <= trials.MOST:  # noqa: ASYNC110 - nobody tells of the last
        await asyncio.sleep(0)
    for task in (*under_way, other):
        task.cancel()
    await asyncio.gather(*under_way, other, return_exceptions=True)
    again = asyncio.create_task(send(OWNER, job))
    hanging.began.clear()
    await hanging.began.wait()
    again.cancel()


async def test_it_ends_when_its_client_hangs_up(house, hanging, caplog):
    browser = await house.login()
    await browser.get("/jobs/new")

    async def leave(scope, receive, send):
        parts: list[Any] = []

        async def until_left():
            if parts and not parts[-1].get("more_body"):
                await hanging.began.wait()
                return {"type": "http.disconnect"}
            parts.append(await receive())
            return parts[-1]

        await house.app(scope, until_left, send)

    browser.http._transport = httpx.ASGITransport(leave)
    await browser.post("/jobs/try", **typed("https://example.com"))
    assert hanging.ended.is_set()
    assert not caplog.records
