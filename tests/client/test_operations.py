"""Both clients against a real service."""

import asyncio
import threading
from datetime import UTC, datetime

import pytest

from tickwell.client import Client
from tickwell.errors import (
    Forbidden,
    InvalidInput,
    JobExists,
    NotFound,
    NotRunning,
    Unauthenticated,
    VersionConflict,
    WrongState,
)

CALL = {"call": {"handler": "x"}}


def job(name="report", **fields):
    return {"name": name, "trigger": {"on_demand": True}, "target": CALL} | fields


def test_a_job_from_its_first_to_its_last_day(client):
    added = client.create_job(job(trigger={"every": "1h"}))
    assert (added["name"], added["version"], added["state"]) == ("report", 1, "active")
    assert client.get_job(added["id"]) == client.get_job("report")
    changed = client.patch_job("report", {"priority": 7}, version=1)
    assert (changed["job"]["version"], changed["job"]["priority"]) == (2, 7)
    replaced = client.replace_job("report", job(trigger={"every": "2h"}), version=None)
    assert replaced["job"]["trigger"] == {"every": "2h"}
    assert [each["version"] for each in client.job_versions("report")["items"]] == [3, 2, 1]
    assert [each["version"] for each in client.iter_versions("report")] == [3, 2, 1]
    assert len(client.next_fires("report", count=3)["items"]) == 3
    until = datetime(2036, 1, 1, tzinfo=UTC)
    paused = client.pause_job("report", note="moving", until=until)["job"]["pause"]
    assert paused is not None
    assert (paused["why"], paused["until"]) == ("moving", "2036-01-01T00:00:00.000Z")
    assert client.resume_job("report")["job"]["state"] == "active"
    day = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    done = client.backfill_job("report", *day)
    assert len(done["ids"]) == 24  # as it was defined first
    assert len(client.job_slots("report", *day)["items"]) == 24
    assert client.delete_job("report")["job"]["state"] == "deleted"
    with pytest.raises(NotFound):
        client.get_job("report")


def test_runs_are_requested_listed_and_cancelled(client):
    client.create_job(job())
    first = client.trigger_job("report", {"a": 1}, in_="1h", idempotency_key="k")
    again = client.trigger_job("report", {"a": 1}, in_="1h", idempotency_key="k")
    assert first == again
    others = [client.trigger_job("report", in_="2h")["id"] for _ in range(4)]
    assert len({first["id"], *others}) == 5
    assert client.cancel_execution(first["id"])["state"] == "cancelled"
    waiting = list(client.iter_executions(state=["waiting"], limit=3))
    assert {each["id"] for each in waiting} == set(others)
    assert len(list(client.iter_history("report", limit=2))) == 5
    assert client.dead_letter_groups()["items"] == []
    assert client.revive_dead_letters(job="report")["state"] in {"running", "done"}
    assert client.purge_dead_letters(job="report", queue=None) == {"purged": 0, "more": False}


def test_one_text_stands_where_several_may(client):
    client.create_job(job())
    assert client.bulk_pause(states="active", dry_run=True)["names"] == ["report"]
    assert [each["name"] for each in client.list_jobs(state="active")["items"]] == ["report"]
    assert client.create_key("ci", "editor", permissions="operate")["permissions"] == ["operate"]
    told = client.create_callback("https://example.com/told", "dead")
    assert told["events"] == ["dead"]


def test_many_at_once(client):
    done = client.create_jobs([job(f"job-{number}") for number in range(25)])
    assert (len(done["items"]), set(done["new"])) == (25, {True})
    assert [each["name"] for each in client.iter_jobs(limit=10)] == sorted(
        f"job-{number}" for number in range(25)
    )
    looked = client.bulk_pause(search="job-1", dry_run=True, note="x")
    assert (looked["matched"], looked["changed"]) == (11, 0)
    assert client.bulk_delete()["changed"] == 25
    with pytest.raises(InvalidInput) as refused:
        client.create_jobs([job("a"), job("a"), job("b", priority=11)])
    assert refused.value.field == "jobs.1.name"
    assert "jobs.2.priority" in str(refused.value)


def test_names_of_any_characters(client):
    name = "50 % über?a=b#c&d"
    client.create_job(job(name))
    assert client.get_job(name)["name"] == name
    assert [each["name"] for each in client.iter_jobs(search="% ü")] == [name]
    for unfit in ("", "..", "a/b"):
        with pytest.raises(InvalidInput, match="cannot be part of an address"):
            client.get_job(unfit)


def test_errors_are_those_of_our_tree(client, served):
    client.create_job(job())
    with pytest.raises(NotFound) as missing:
        client.get_job("other")
    assert (missing.value.kind, missing.value.key) == ("job", "other")
    assert str(missing.value) == "no job 'other' in this project"
    with pytest.raises(JobExists) as taken:
        client.create_job(job())
    assert taken.value.name == "report"
    with pytest.raises(VersionConflict) as stale:
        client.patch_job("report", {"priority": 1}, version=9)
    assert (stale.value.name, stale.value.expected, stale.value.found) == ("report", 9, 1)
    with pytest.raises(WrongState) as active:
        client.resume_job("report")
    assert (active.value.kind, active.value.key, active.value.state) == ("job", "report", "active")
    with pytest.raises(InvalidInput) as field:
        client.create_job(job("x", trigger={"cron": "nonsense"}))
    assert field.value.field == "trigger.cron"
    with pytest.raises(InvalidInput) as parameter:
        client.list_jobs(limit=0)
    assert parameter.value.field == "limit"
    with pytest.raises(InvalidInput):
        client.trigger_job("report", float("nan"))
    reader = client.create_key("reader", "viewer")["key"]
    with Client(served.url, key=reader) as other, pytest.raises(Forbidden) as refused:
        other.delete_job("report")
    assert refused.value.permission == "edit"
    with Client(served.url, key="tw_nobody") as nobody, pytest.raises(Unauthenticated):
        nobody.list_jobs()


def test_what_is_administered(client):
    assert client.get_session()["project"] == "default"
    made = client.create_key("ci", "editor")
    assert made["id"] in {each["id"] for each in client.list_keys()["items"]}
    assert client.revoke_key(made["id"])["done"]
    client.set_secret("token", "a value")
    assert [each["name"] for each in client.list_secrets()["items"]] == ["token"]
    actions = [each["action"] for each in client.iter_audit(limit=2)]
    assert actions[:3] == ["secret.set", "key.revoke", "key.create"]
    assert client.verify_audit()["problem"] is None
    assert client.preview_cron("0 9 * * *", count=2)["words"].startswith("at 09:00")
    assert client.health_details()["database"] == "connected"


async def test_the_same_by_await(async_client):
    await async_client.create_jobs([job(f"job-{number}") for number in range(5)])
    names = [each["name"] async for each in async_client.iter_jobs(limit=2)]
    assert names == [f"job-{number}" for number in range(5)]
    with pytest.raises(NotFound):
        await async_client.get_job("other")
    runs = await asyncio.gather(*(async_client.trigger_job(name) for name in names))
    assert len({run["id"] for run in runs}) == 5


async def test_events_as_they_happen(async_client, served):
    await async_client.create_job(job())
    events = async_client.stream_events()
    async with asyncio.timeout(100):
        assert (await anext(events))["type"] == "tickwell.stream.opened"
        await asyncio.to_thread(served.wait_until_watched)
        asked = await async_client.trigger_job("report", in_="1h")
        told = await anext(events)
    assert told["data"]["id"] == asked["id"]
    await events.aclose()


def test_events_without_await_and_from_any_thread(client, served):
    client.create_job(job())
    events = client.stream_events()
    assert next(events)["type"] == "tickwell.stream.opened"
    served.wait_until_watched()
    thread = threading.Thread(target=client.trigger_job, args=("report",))
    thread.start()
    thread.join()
    assert next(events)["type"].startswith("tickwell.execution.")
    events.close()


def test_a_closed_client_says_so(client):
    client.close()
    client.close()
    with pytest.raises(NotRunning):
        client.list_jobs()


def test_server_and_key_by_the_environment(served, monkeypatch):
    monkeypatch.setenv("TICKWELL_SERVER", served.url + "/")
    monkeypatch.setenv("TICKWELL_KEY", served.key)
    with Client() as client:
        assert list(client.iter_jobs()) == []
    with Client(project="other") as client, pytest.raises(NotFound) as missing:
        client.list_jobs()
    assert missing.value.kind == "project"
