"""Bodies as other schedulers have them, word for word."""

import pytest

JOBS = "http://test/api/jobs"
URL = "https://example.com/hook"


async def made(http, document, path=JOBS):
    answer = await http.post(path, json=document)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_node_scheduler_with_a_cron_of_six_fields(http):
    job = await made(
        http,
        {
            "name": "poll",
            "schedule": "*/30 * * * * *",
            "endpoint": URL,
            "method": "POST",
            "priority": 7,
            "enabled": True,
            "executionType": "EXACTLY_ONCE",
        },
    )
    assert (job["trigger"], job["target"]["http"]["url"]) == ({"cron": "*/30 * * * * *"}, URL)
    assert (job["state"], job["priority"]) == ("active", 7)
    once = {"name": "once", "schedule": "0 9 * * *", "url": URL, "executionType": "AT_MOST_ONCE"}
    assert (await made(http, once))["delivery"] == "at_most_once"


async def test_a_mongodb_job_with_repeat_and_retry(http):
    job = await made(
        http,
        {
            "name": "poller",
            "data": {"customer": 7},
            "repeat": {"every": 1000},
            "retry": {"maxAttempts": 4, "delay": 100},
            "dedupeKey": "poller-7",
            "url": URL,
        },
    )
    assert job["trigger"] == {"every": "1s", "after": "finish"}
    assert job["retry"] == {"max_attempts": 4, "delay": "100ms"}
    assert (job["payload"], job["dedupe_key"]) == ({"customer": 7}, "poller-7")
    cron = {"cron": "0 9 * * *", "timezone": "Asia/Kolkata"}
    job = await made(http, {"name": "cron", "repeat": cron, "url": URL})
    assert job["trigger"] == {"cron": "0 9 * * *", "tz": "Asia/Kolkata"}


async def test_a_schedule_of_an_agent_with_an_execution_window(http):
    path = "http://test/api/schedules"
    job = await made(
        http,
        {
            "name": "agent",
            "cronExpression": "0 * * * *",
            "timezone": "Europe/Rome",
            "agentUrl": URL,
            "payload": {"task": "sync"},
            "retryPolicy": {"maxAttempts": 4, "initialDelay": 1000, "multiplier": 2},
            "executionWindow": {
                "daysOfWeek": [1, 2, 3, 4, 5],
                "hoursOfDay": [9, 10, 11, 14, 15, 23],
            },
        },
        path,
    )
    days = "mon,tue,wed,thu,fri"
    assert job["trigger"]["within"] == [
        {"days": days, "from": "09:00", "to": "12:00"},
        {"days": days, "from": "14:00", "to": "16:00"},
        {"days": days, "from": "23:00", "to": "24:00"},
    ]
    assert job["retry"] == {"max_attempts": 4, "delay": "1s"}
    assert (await http.get(f"{path}/agent")).json()["id"] == job["id"]
    paused = await http.patch(f"{path}/agent", json={"enabled": False})
    assert paused.json()["job"]["state"] == "paused"
    assert [each["name"] for each in (await http.get(path)).json()["items"]] == ["agent"]
    assert (await http.delete(f"{path}/agent")).status_code == 200


async def test_a_job_with_a_webhook_of_its_own(http):
    job = await made(
        http,
        {
            "name": "report",
            "schedule": "0 2 * * *",
            "type": 3,
            "tags": ["billing"],
            "timezone": "UTC",
            "webhook": {
                "url": URL,
                "method": "PUT",
                "headers": {"X-Team": "a"},
                "query_params": {"page": "1"},
                "body_template": '{"at": "{{fire_time}}"}',
            },
            "retry_policy": {
                "max_attempts": 5,
                "backoff_seconds": 60,
                "backoff_type": "linear",
            },
        },
    )
    http_target = job["target"]["http"]
    assert http_target["json"] == {"at": "{{fire_time}}"}
    assert (http_target["method"], http_target["query"]) == ("PUT", {"page": "1"})
    assert job["retry"] == {"max_attempts": 5, "backoff": "linear", "delay": "1m"}
    assert job["tags"] == ["billing", "type-3"]
    text = {
        "name": "text",
        "schedule": "0 2 * * *",
        "url": URL,
        "body_template": "at {{fire_time}}",
    }
    assert (await made(http, text))["target"]["http"]["text"] == "at {{fire_time}}"


async def test_a_document_of_a_collection(http):
    at = "2999-01-01T00:00:00.000Z"
    once = await made(http, {"name": "once", "sleepUntil": at, "autoRemove": True, "url": URL})
    assert (once["trigger"], once["auto_remove"]) == ({"once": at}, True)
    cron = {"interval": "0 9 * * *", "sleepUntil": at, "repeatUntil": "2999-02-01T00:00:00.000Z"}
    job = await made(http, {"name": "cron", "url": URL} | cron)
    assert job["trigger"] == {
        "cron": "0 9 * * *",
        "start": at,
        "until": "2999-02-01T00:00:00.000Z",
    }


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"webhook": {"url": "ftp://x"}, "schedule": "0 2 * * *"}, "/webhook/url"),
        ({"webhook": {"method": "PUT"}, "schedule": "0 2 * * *"}, "/webhook/url"),
        ({"webhook": {"uri": URL}, "schedule": "0 2 * * *"}, "/webhook/uri"),
        ({"webhook": URL, "schedule": "0 2 * * *"}, "/webhook"),
        ({"webhook": {"url": URL}, "url": URL, "schedule": "0 2 * * *"}, "/webhook/url"),
        ({"url": URL, "repeat": {"cron": "no"}}, "/repeat/cron"),
        ({"url": URL, "repeat": {"every": 1.5}}, "/repeat/every"),
        ({"url": URL, "cronExpression": "no"}, "/cronExpression"),
        ({"url": URL, "schedule": "0 2 * * *", "retry": {"maxAttempts": 0}}, "/retry/maxAttempts"),
        ({"url": URL, "schedule": "0 2 * * *", "executionType": "TWICE"}, "/executionType"),
        ({"url": URL, "schedule": "0 2 * * *", "type": {}}, "/type"),
        (
            {"url": URL, "schedule": "0 2 * * *", "executionWindow": {"hoursOfDay": [24]}},
            "/executionWindow/hoursOfDay",
        ),
        ({"url": URL, "schedule": "0 2 * * *", "webhooks": {"onEnd": URL}}, "/webhooks"),
    ],
)
async def test_mistakes_are_named_as_they_were_sent(http, document, pointer):
    answer = await http.post(JOBS, json={"name": "a"} | document)
    assert answer.status_code == 422, answer.text
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]
    assert (await http.get(f"{JOBS}/a")).status_code == 404


async def test_a_patch_may_change_what_kind_a_trigger_is(http):
    await made(http, {"name": "a", "schedule": "0 2 * * *", "timezone": "Europe/Rome", "url": URL})
    for patch, trigger in (
        ({"repeat": {"every": 60000}}, {"every": "1m", "after": "finish"}),
        ({"cronExpression": "0 3 * * *"}, {"cron": "0 3 * * *"}),
        ({"runAt": "2999-01-01T00:00:00Z"}, {"once": "2999-01-01T00:00:00.000Z"}),
    ):
        changed = await http.patch(f"{JOBS}/a", json=patch)
        assert changed.status_code == 200, changed.text
        assert changed.json()["job"]["trigger"] == trigger
    changed = await http.patch(f"{JOBS}/a", json={"type": 7})
    assert changed.json()["errors"][0]["pointer"] == "/type"


async def test_a_paused_job_is_edited_and_resumed_at_once_or_not_at_all(http):
    await made(http, {"name": "a", "schedule": "0 2 * * *", "url": URL, "enabled": False})
    wrong = await http.patch(f"{JOBS}/a", json={"enabled": True, "schedule": "no"})
    assert wrong.status_code == 422
    assert (await http.get(f"{JOBS}/a")).json()["state"] == "paused"
    changed = await http.patch(f"{JOBS}/a", json={"enabled": True, "schedule": "0 4 * * *"})
    job = changed.json()["job"]
    assert (job["state"], job["trigger"]) == ("active", {"cron": "0 4 * * *"})
