"""Jobs of a batch that are alike are read once, and are jobs of their own all the same."""

from unittest.mock import ANY

from tests.api.conftest import CALL

JOB = {"trigger": {"cron": "H H * * *"}, "target": CALL, "retry": {"max_attempts": 5}}


async def test_each_has_its_own_name_payload_and_hash(http):
    jobs = [JOB | {"name": f"job-{n}", "payload": {"n": n}} for n in range(200)]
    del jobs[7]["payload"]
    answer = await http.post("/jobs/batch", json={"jobs": jobs})
    assert answer.status_code == 201, answer.text
    items = answer.json()["items"]
    assert [each["name"] for each in items] == [each["name"] for each in jobs]
    assert [each.get("payload") for each in items] == [each.get("payload") for each in jobs]
    assert len({each["id"] for each in items}) == 200
    assert len({each["next_fire_time"] for each in items}) > 100
    for each in items[:3]:
        assert (await http.get(f"/jobs/{each['id']}")).json() == each | {"warnings": ANY}
        one = (await http.post("/jobs", json=JOB | {"name": f"{each['name']}-alone"})).json()
        assert one["retry"] == each["retry"] == {"max_attempts": 5}


async def test_one_by_one_too(http):
    payloads = [{"secret": ["a"]}, None, 7]
    for number, payload in enumerate(payloads):
        answer = await http.post("/jobs", json=JOB | {"name": f"one-{number}", "payload": payload})
        assert answer.status_code == 201, answer.text
        assert answer.json().get("payload") == payload
    wrong = await http.post("/jobs", json=JOB | {"name": "a\nb"})
    assert [each["pointer"] for each in wrong.json()["errors"]] == ["/name"]
    read_only = await http.post("/jobs", json=JOB | {"name": "one", "version": 3})
    assert [each["pointer"] for each in read_only.json()["errors"]] == ["/version"]


async def test_what_is_wrong_with_one_is_said_of_that_one(http):
    good = JOB | {"name": "a"}
    wrong = [
        good | {"name": ""},
        good | {"name": 7},
        good | {"name": "b", "retry": {"max_attempts": True}},
        good | {"name": "c", "retry": {"max_attempts": 0}},
        good,
        {"trigger": JOB["trigger"], "target": CALL},
    ]
    answer = await http.post("/jobs/batch", json={"jobs": [good, *wrong]})
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [
        "/jobs/1/name",
        "/jobs/2/name",
        "/jobs/3/retry/max_attempts",
        "/jobs/4/retry/max_attempts",
        "/jobs/5/name",
        "/jobs/6/name",
    ]
    assert (await http.get("/jobs")).json()["items"] == []
