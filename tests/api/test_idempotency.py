"""`Idempotency-Key`: done once, answered as often as asked."""

import asyncio
import random
from collections import Counter
from typing import Any
from unittest.mock import ANY

import pytest

from tests.api.conftest import CALL
from tickwell.domain.execution import NewExecution
from tickwell.errors import StoreUnavailable
from tickwell.services.audit.audit import Audit
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.services.limits.limits import Limits
from tickwell.services.limits.quota import Quota

JOB = {"name": "report", "trigger": {"on_demand": True}, "target": CALL}


async def test_a_hundred_requests_at_once_have_one_effect(world, http):
    await world.add()
    headers = {"idempotency-key": "once"}

    async def ask():
        return await http.post("/jobs/report/trigger", json={"payload": 1}, headers=headers)

    answers = await asyncio.gather(*(ask() for _ in range(100)))
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {202, 409}
    assert statuses[202] >= 1
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 202}) == 1
    assert all(answer.headers["retry-after"] for answer in answers if answer.status_code == 409)
    assert len((await http.get("/executions")).json()["items"]) == 1
    later = await ask()
    assert later.status_code == 202
    assert later.headers["idempotency-replayed"] == "true"
    assert [action for _, action, _ in world.journal.entries] == ["job.create", "job.trigger"]


async def test_an_answer_is_given_again_whole(http):
    headers = {"idempotency-key": "k"}
    first = await http.post("/jobs", json=JOB, headers=headers)
    again = await http.post("/jobs", json=JOB, headers=headers)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["location"] == first.headers["location"]


async def test_a_key_is_for_one_request(world, http):
    headers = {"idempotency-key": "k"}
    await http.post("/jobs", json=JOB, headers=headers)
    other = await http.post("/jobs", json={**JOB, "name": "other"}, headers=headers)
    assert other.status_code == 422
    assert other.json()["type"] == "urn:tickwell:problem:key-reused"
    assert (await http.get("/jobs/other")).status_code == 404


async def test_what_was_refused_may_be_sent_again_corrected(http):
    headers = {"idempotency-key": "k"}
    wrong = await http.post("/jobs", json={**JOB, "priority": 11}, headers=headers)
    assert wrong.status_code == 422
    assert (await http.post("/jobs", json=JOB, headers=headers)).status_code == 201


async def test_keys_of_others_are_others(world, http):
    headers = {"idempotency-key": "k"}
    await http.post("/jobs", json=JOB, headers=headers)
    world.as_actor(*["edit", "read", "operate"], project="other")
    answer = await http.post("/jobs", json=JOB, headers=headers)
    assert answer.status_code == 201
    assert answer.json()["project"] == "other"


@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_keys_have_bounds(http, key):
    answer = await http.post("/jobs", json=JOB, headers={"idempotency-key": key})
    assert answer.status_code == 422


async def test_a_run_s_key_belongs_to_one_payload_whoever_sends_it(world, http):
    await world.add(payload={"from": "the job"})
    headers, runs = {"idempotency-key": "k"}, "/jobs/report/trigger"
    first = await http.post(runs, json={"payload": 1}, headers=headers)
    world.as_actor("operate", "read", name="somebody else")
    other = await http.post(runs, json={"payload": 2}, headers=headers)
    assert other.status_code == 409
    assert "another payload" in other.json()["detail"]
    same = await http.post(runs, json={"payload": 1}, headers=headers)
    assert (same.status_code, same.json()["id"]) == (202, first.json()["id"])
    headers = {"idempotency-key": "none given"}
    first = await http.post(runs, headers=headers)
    world.as_actor("operate", "read", name="a third one")
    assert (await http.post(runs, headers=headers)).json()["id"] == first.json()["id"]


async def test_a_bulk_trigger_that_broke_off_goes_on(world, http, monkeypatch):
    for number in range(4):
        await world.add(f"job-{number}")
    add, added = world.store.add_executions, list[NewExecution]()

    async def breaks_off(new, *arguments):
        if len(added) == 2:
            raise StoreUnavailable("gone")
        added.extend(new)
        return await add(new, *arguments)

    async def ask():
        headers = {"idempotency-key": "k"}
        return await http.post("/bulk/trigger", json={"filter": {}}, headers=headers)

    monkeypatch.setattr(world.store, "add_executions", breaks_off)
    assert (await ask()).status_code == 503
    monkeypatch.setattr(world.store, "add_executions", add)
    done = await ask()
    assert (done.status_code, done.json()["changed"]) == (200, 4)
    runs = (await http.get("/executions")).json()["items"]
    assert len({run["job_id"] for run in runs}) == len(runs) == 4
    actions = [action for _, action, _ in world.journal.entries]
    assert actions.count("bulk.trigger") == 2  # the one that broke off is on record too


async def test_a_bulk_trigger_is_within_the_limit_or_does_nothing(world, http):
    for number in range(6):
        await world.add(f"job-{number}", tags=["half"] if number < 3 else [])
    audit = Audit(world.store, world.clock, random.Random(1), Keyring([ServerKey(b"k" * 32)]))
    quota = Quota(runs_per_minute=3)
    world.operation_context.limiter = Limits(world.store, world.clock, audit, quota)
    for headers in ({}, {"idempotency-key": "k"}):
        refused = await http.post("/bulk/trigger", json={"filter": {}}, headers=headers)
        assert refused.status_code == 429
        assert "retry-after" not in refused.headers  # six are never allowed
    assert (await http.get("/executions")).json()["items"] == []
    half = await http.post("/bulk/trigger", json={"filter": {"tag": "half"}})
    assert (half.status_code, half.json()["changed"]) == (200, 3)
    later = await http.post("/bulk/trigger", json={"filter": {"tag": "half"}})
    assert later.status_code == 429
    assert "retry-after" in later.headers


@pytest.fixture
def lost_answer(world, monkeypatch):
    """The next jobs are added, and nobody learns of it."""
    add = world.store.add_jobs

    async def loses(entries, now):
        await add(entries, now)
        monkeypatch.setattr(world.store, "add_jobs", add)
        raise StoreUnavailable("gone after the commit")

    monkeypatch.setattr(world.store, "add_jobs", loses)


HASHED = JOB | {"trigger": {"cron": "H 9 * * *"}, "payload": {"a": [1]}}


@pytest.mark.usefixtures("lost_answer")
async def test_a_job_whose_answer_was_lost_is_answered_when_it_is_sent_again(world, http):
    headers = {"idempotency-key": "k"}
    assert (await http.post("/jobs", json=HASHED, headers=headers)).status_code == 503
    again = await http.post("/jobs", json=HASHED, headers=headers)
    assert again.status_code == 201, again.text
    (job,) = (await http.get("/jobs")).json()["items"]
    assert again.json() == job | {"warnings": ANY}
    assert again.headers["location"].endswith(job["id"])
    assert [action for _, action, _ in world.journal.entries] == ["job.create"]


@pytest.mark.usefixtures("lost_answer")
async def test_so_is_a_batch(http):
    headers, batch = {"idempotency-key": "k"}, {"jobs": [HASHED, HASHED | {"name": "b"}]}
    assert (await http.post("/jobs/batch", json=batch, headers=headers)).status_code == 503
    again = await http.post("/jobs/batch", json=batch, headers=headers)
    assert (again.status_code, again.json()["new"]) == (201, [True, True])
    assert [each["name"] for each in again.json()["items"]] == ["report", "b"]
    assert len((await http.get("/jobs")).json()["items"]) == 2


@pytest.mark.usefixtures("lost_answer")
async def test_who_sends_another_job_or_no_key_is_refused_a_name_that_is_taken(http):
    assert (await http.post("/jobs", json=HASHED)).status_code == 503
    assert (await http.post("/jobs", json=HASHED)).status_code == 409
    others: list[dict[str, Any]] = [{"payload": {"a": [2]}}, {"priority": 6}, {"tags": ["x"]}]
    for number, other in enumerate(others):
        headers = {"idempotency-key": f"k{number}"}
        answer = await http.post("/jobs", json=HASHED | other, headers=headers)
        assert (answer.status_code, answer.json()["type"][-10:]) == (409, "job-exists")
    batch = {"jobs": [HASHED, HASHED | {"name": "b"}]}
    answer = await http.post("/jobs/batch", json=batch, headers={"idempotency-key": "b"})
    assert answer.status_code == 409
    assert len((await http.get("/jobs")).json()["items"]) == 1


async def test_the_same_job_with_another_key_is_refused(http):
    for key, status in (("a", 201), ("b", 409)):
        answer = await http.post("/jobs", json=HASHED, headers={"idempotency-key": key})
        assert answer.status_code == status
