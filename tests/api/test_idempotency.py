"""`Idempotency-Key`: done once, answered as often as asked."""

import asyncio
from collections import Counter

import pytest

from tests.api.conftest import CALL

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
