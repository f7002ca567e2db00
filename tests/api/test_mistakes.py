"""A body with several mistakes is answered with all of them."""

import re

from tickwell.services.operations.catalog import operations

WRONG = {
    "name": "",
    "trigger": {"cron": "61 * * * *"},
    "target": {"http": {"url": "ftp://example.com", "method": "FETCH", "timeout": 30}},
    "priority": 50,
    "retry": {"max_attempts": 0, "delay": 5},
    "colour": "red",
}
POINTERS = {
    "/name",
    "/trigger/cron",
    "/target/http/url",
    "/target/http/method",
    "/target/http/timeout",
    "/priority",
    "/retry/max_attempts",
    "/retry/delay",
    "/colour",
}


async def test_each_mistake_is_answered_with_its_pointer(http):
    answer = await http.post("/jobs", json=WRONG)
    assert answer.status_code == 422
    problem = answer.json()
    assert {each["pointer"] for each in problem["errors"]} == POINTERS
    assert len(problem["errors"]) == len(POINTERS)
    assert problem["detail"].endswith("; and 8 more, see errors")
    assert (await http.get("/jobs")).json()["items"] == []


async def test_also_in_a_batch_and_in_a_patch(world, http):
    answer = await http.post("/jobs/batch", json={"jobs": [WRONG]})
    pointers = {each["pointer"] for each in answer.json()["errors"]}
    assert pointers == {f"/jobs/0{pointer}" for pointer in POINTERS}
    await world.add("a")
    patch = {"priority": 50, "retry": {"max_attempts": 0, "delay": 5}}
    answer = await http.patch("/jobs/a", json=patch, headers={"If-Match": "*"})
    pointers = {each["pointer"] for each in answer.json()["errors"]}
    assert pointers == {"/priority", "/retry/max_attempts", "/retry/delay"}


async def test_read_only_fields_and_the_state_do_not_hide_other_mistakes(world, http):
    wrong = WRONG | {"id": "a", "version": 2, "state": "finished"}
    pointers = POINTERS | {"/id", "/version", "/state"}
    answer = await http.post("/jobs", json=wrong)
    assert {each["pointer"] for each in answer.json()["errors"]} == pointers
    answer = await http.post("/jobs/batch", json={"jobs": [wrong]})
    assert {each["pointer"] for each in answer.json()["errors"]} == {
        f"/jobs/0{pointer}" for pointer in pointers
    }
    await world.add("a")
    patch = {"id": "a", "version": 2}
    answer = await http.patch("/jobs/a", json=patch, headers={"If-Match": "*"})
    assert [each["pointer"] for each in answer.json()["errors"]] == ["/id", "/version"]


async def test_a_mistake_in_a_body_points_at_its_field(http):
    for body in ({"json": {"a": "{{"}}, {"text": "{{unknown}}"}, {"json": 1, "method": "GET"}):
        (field,) = body.keys() & {"json", "text"}
        target = {"http": {"url": "https://example.com/a"} | body}
        job = {"name": "a", "trigger": {"on_demand": True}, "target": target}
        answer = await http.post("/jobs", json=job)
        assert [each["pointer"] for each in answer.json()["errors"]] == [f"/target/http/{field}"]


async def test_each_mistake_inside_a_trigger_is_named(http):
    triggers = (
        (
            {"cron": "61 * * * *", "tz": "Nowhere", "jitter": 5, "max_runs": "x", "colour": 1},
            {"cron", "tz", "jitter", "max_runs", "colour"},
        ),
        ({"cron": "0 9 ? * 2 *", "dialect": "odd", "until": "soon"}, {"dialect", "until"}),
        (
            {"every": 300, "phase": 5, "within": [{"days": "odd"}]},
            {"every", "phase", "within/0/days"},
        ),
        ({"once": "soon", "start": "later"}, {"once", "start"}),
        (
            {"calendar_every": {"months": "x"}, "anchor": "2026-01-31T09:00:00", "tz": 5},
            {"calendar_every/months", "tz"},
        ),
        ({"any_of": [{"cron": "61 * * * *"}], "max_runs": 0}, {"any_of/0/cron", "max_runs"}),
        ({"cron": "0 9 * * *", "tz": "Nowhere"}, {"tz"}),
    )
    for trigger, fields in triggers:
        job = {"name": "a", "trigger": trigger, "target": {"call": {"handler": "x"}}}
        answer = await http.post("/jobs", json=job)
        pointers = {each["pointer"] for each in answer.json()["errors"]}
        assert {each.removeprefix("/trigger/") for each in pointers} == fields, answer.text


async def test_a_duration_without_a_unit_is_refused_everywhere(http):
    for document in (
        {"expires": 300},
        {"timeout": 300},
        {"timeout": {"hard": 300}},
        {"misfire": {"grace": 300}},
        {"retention": {"age": 300}},
        {"trigger": {"every": 300}},
        {"trigger": {"every": "5m", "jitter": 300}},
    ):
        job = {"name": "a", "trigger": {"on_demand": True}, "target": {"call": {"handler": "x"}}}
        answer = await http.post("/jobs", json=job | document)
        (error,) = answer.json()["errors"]
        assert error["detail"] == "must have a unit; got 300"
        assert error["hint"] == 'Write "300s" for seconds or "300ms" for milliseconds'


async def test_null_is_neither_an_empty_body_nor_an_empty_filter(http):
    changing = [each for each in operations().values() if each.takes_body and each.in_clients]
    taken, headers = {}, {"If-Match": "*", "Content-Type": "application/json"}
    for each in changing:
        path = re.sub(r"{\w+}", "default", each.path)
        answer = await http.request(each.method, path, content=b"null", headers=headers)
        if answer.status_code != 422:
            taken[each.id] = answer.status_code
    assert len(changing) > 20
    assert taken == {}
    answer = await http.post("/dead-letters/revive", json={"filter": None})
    assert [each["pointer"] for each in answer.json()["errors"]] == ["/filter"]
