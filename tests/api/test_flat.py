"""Flat bodies: whatever the order, what is said twice is refused, and nothing is passed over."""

import itertools

import pytest

JOBS = "http://test/api/jobs"
URL = "https://example.com/a"
FLAT = {"schedule": "0 2 * * *", "url": URL}


def orders(document):
    return [dict(each) for each in itertools.permutations(document.items())]


@pytest.mark.parametrize(
    "document", orders({"timezone": "Europe/Rome", "trigger": {"every": "1h"}})
)
async def test_a_zone_is_of_a_cron_only(http, document):
    answer = await http.post(JOBS, json={"name": "a", "url": URL} | document)
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize(
    "document", orders({"timezone": "Europe/Rome", "trigger": {"cron": "0 9 * * *"}})
)
async def test_what_is_canonical_is_completed(http, document):
    answer = await http.post(JOBS, json={**document, "name": "a", "url": URL})
    assert answer.json()["trigger"] == {"cron": "0 9 * * *", "tz": "Europe/Rome"}


@pytest.mark.parametrize(
    "document",
    [
        *orders({"schedule": "99 99 * * *", "trigger": {"every": "1h"}, "url": URL}),
        *orders({"url": URL, "target": {"http": {"url": URL}}, "schedule": "0 2 * * *"}),
        *orders({"url": URL, "target": 7, "schedule": "0 2 * * *"}),
    ],
)
async def test_what_is_said_twice_is_refused(http, document):
    answer = await http.post(JOBS, json={"name": "a"} | document)
    assert answer.status_code == 422, answer.text


async def test_a_batch_may_be_flat(http):
    jobs = [FLAT | {"name": name} for name in "ab"]
    added = await http.post(f"{JOBS}/batch", json={"jobs": jobs})
    assert added.status_code == 201, added.text
    assert [each["trigger"] for each in added.json()["items"]] == [{"cron": "0 2 * * *"}] * 2
    assert (await http.post("/jobs/batch", json={"jobs": jobs})).status_code == 422
    wrong = [FLAT | {"name": "c", "schedule": "no"}, FLAT | {"name": "d", "enabled": "no"}]
    refused = await http.post(f"{JOBS}/batch", json={"jobs": wrong})
    pointers = [each["pointer"] for each in refused.json()["errors"]]
    assert pointers == ["/jobs/0/schedule", "/jobs/1/enabled"]


async def test_enabled_may_say_what_is_so(world, http):
    await world.add("a")
    patched = await http.patch(f"{JOBS}/a", json={"enabled": True, "priority": 7})
    assert (patched.status_code, patched.json()["job"]["priority"]) == (200, 7)


@pytest.mark.parametrize(
    ("document", "pointer", "example"),
    [
        ({"schedule": "0 2 * * *"}, "/url", '{"url": "https://example.com/hook"}'),
        ({"url": URL}, "/schedule", '{"schedule": "0 9 * * *"}'),
        ({"url": "ftp://x", "schedule": "0 2 * * *"}, "/url", "https://"),
        ({"endpoint": "ftp://x", "schedule": "0 2 * * *"}, "/endpoint", "https://"),
        ({"url": URL, "trigger": {"cron": "no"}}, "/trigger/cron", ""),
    ],
)
async def test_errors_point_at_fields_as_they_were_sent(http, document, pointer, example):
    answer = await http.post(JOBS, json={"name": "a"} | document)
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert example in error["hint"]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"schedule": "61 * * * *"}, "/schedule"),
        ({"schedule": "0 0 31 2 *"}, "/schedule"),
        ({"url": "ftp://x"}, "/url"),
        ({"endpoint": "ftp://x"}, "/endpoint"),
        ({"body": {"a": "{{unknown}}"}}, "/body"),
    ],
)
async def test_an_edit_points_at_fields_as_they_were_sent(http, document, pointer):
    await http.post(JOBS, json={"name": "a"} | FLAT)
    whole = {"schedule": FLAT["schedule"]} if "endpoint" in document else FLAT
    answers = [
        await http.patch(f"{JOBS}/a", json=document),
        await http.put(f"{JOBS}/a", json={"name": "a"} | whole | document),
        await http.post(JOBS, json={"name": "b"} | whole | document),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert [each["pointer"] for each in answer.json()["errors"]] == [pointer], answer.text
