"""Live events over a real server: streams, their bounds, and who may hear what."""

import asyncio
import contextlib
import json
import socket
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tickwell.api.http import event_stream as streams
from tickwell.api.server import serve
from tickwell.domain.change import pause
from tickwell.domain.event import LATE, AttemptsFinished, FiresSkipped, Planned
from tickwell.domain.execution import Execution, Kind, RangeSkip, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import BY_POLICY
from tickwell.domain.planning import new_execution
from tickwell.errors import LimitReached
from tickwell.ids import execution_id
from tickwell.ports.records import JobFilter
from tickwell.services import event_feed as feeds
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.event_feed import Subscription
from tickwell.services.operations.records.event import EVENT_TYPES, Event
from tickwell.services.operations.schema import schema_of
from tickwell.testing.contract.builders import fresh_id


@pytest.fixture
async def url(world):
    async def authenticate(request):
        project = request.headers.get("x-project", "default")
        return Actor(name=project, project=project, permissions=frozenset(Permission))

    world.context.authenticate = authenticate
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    server = asyncio.create_task(serve(world.app, sock))
    yield f"http://127.0.0.1:{sock.getsockname()[1]}/api/v1"
    await world.context.close()
    server.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await server
    sock.close()


@contextlib.asynccontextmanager
async def listening(url, project="default"):
    """The events of a stream, one after another."""
    headers = {"x-project": project}
    async with (
        httpx.AsyncClient(headers=headers, timeout=100) as client,
        client.stream("GET", f"{url}/events") as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        lines = answer.aiter_lines()

        async def events():
            async for line in lines:
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

        yield events()


async def until(world, condition):
    """Wait for what no signal tells; a test that waits for ever is stopped from outside."""
    while not condition():
        await world.clock.wait(asyncio.Event(), 0.01)


async def test_a_run_is_told_as_it_goes_and_to_its_project_alone(world, url):
    await world.add()
    async with listening(url) as heard, listening(url, "other") as others:
        assert (await anext(heard))["type"] == "tickwell.stream.opened"
        assert (await anext(others))["type"] == "tickwell.stream.opened"
        # Whatever is told from here on comes after the first look at what was there before.
        await until(world, lambda: world.context.feed.looked("default"))
        id = (await world.http.post("/jobs/report/trigger", json={"payload": "canary"})).json()[
            "id"
        ]
        first = await anext(heard)
        assert first["subject"] == f"execution/{id}"
        assert first["specversion"] == "1.0"
        assert first["source"] == "/projects/default"
        assert "canary" not in json.dumps(first)
        await world.run()
        types = [first["type"]]
        while types[-1] != "tickwell.execution.succeeded":
            types.append((await anext(heard))["type"])
        world.context.feed.tell("other", "tickwell.test", "x", None)
        assert (await anext(others))["type"] == "tickwell.test"


async def test_whose_rights_end_hears_no_more(world, url, monkeypatch):
    monkeypatch.setattr(streams, "ASKED", 0.0)
    async with listening(url) as heard:
        assert (await anext(heard))["type"] == "tickwell.stream.opened"
        world.context.feed.tell("default", "tickwell.test", "x", None)
        assert (await anext(heard))["type"] == "tickwell.test"
        world.as_actor(Permission.OPERATE)  # not to read any more
        world.context.feed.tell("default", "tickwell.test", "x", "canary")
        assert [each async for each in heard] == []
    await until(world, lambda: not world.context.feed.listeners)


async def test_listeners_are_bounded(world, url, monkeypatch):
    monkeypatch.setattr(feeds, "MOST_OF_ONE", 1)
    async with listening(url) as heard:
        await anext(heard)
        async with httpx.AsyncClient(timeout=100) as client:
            answer = await client.get(f"{url}/events")
            assert answer.status_code == 429
            assert answer.headers["retry-after"] == "30"
        async with listening(url, "other") as others:
            await anext(others)
    # The server notices that they hung up.
    await until(world, lambda: not world.context.feed.listeners)


async def test_a_slow_reader_is_cut_off(world, url, monkeypatch):
    monkeypatch.setattr(streams, "SLOW", 0.2)
    host, port = url.removeprefix("http://").partition("/")[0].split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(b"GET /api/v1/events HTTP/1.1\r\nhost: x\r\n\r\n")
    await reader.readuntil(b"opened")
    feed, large = world.context.feed, "x" * 100_000
    while feed.listeners:  # it never reads on, and the buffers on the way are not endless
        feed.tell("default", "tickwell.test", "x", large)
        await asyncio.sleep(0.001)
    writer.close()


async def test_a_listener_that_falls_behind_is_cut_off(world):
    feed = world.context.feed
    subscription = feed.subscribe("default", "ada")
    for _ in range(feeds.BEHIND):
        feed.tell("default", "tickwell.test", "x", None)
    assert not subscription.closed
    feed.tell("default", "tickwell.test", "x", None)
    assert subscription.closed
    feed.unsubscribe(subscription)
    assert feed.listeners == 0


async def test_one_actor_does_not_take_all_streams(world):
    feed = world.context.feed
    own = [feed.subscribe("default", "ada") for _ in range(feeds.MOST_OF_ACTOR)]
    with pytest.raises(LimitReached, match="event streams open"):
        feed.subscribe("default", "ada")
    feed.subscribe("default", "bob")
    feed.unsubscribe(own[0])
    feed.subscribe("default", "ada")


async def test_a_look_that_fails_is_told_and_followed_by_another(world, monkeypatch, caplog):
    feed, looks, again = world.context.feed, [], asyncio.Event()

    async def look(project, known):
        looks.append(known)
        if len(looks) == 2:
            raise ZeroDivisionError
        if len(looks) == 3:
            again.set()
        return {}

    monkeypatch.setattr(feeds, "_SOON", 0)
    monkeypatch.setattr(feeds, "_LOOK", 0)
    monkeypatch.setattr(feed, "_look", look)
    feed.subscribe("default", "ada")
    await again.wait()
    assert looks[:3] == [None, {}, None]
    assert "reading the events of project default failed" in caplog.text


async def test_who_comes_back_while_the_process_stops_is_sent_away(world, url):
    async with listening(url) as events:
        assert (await anext(events))["type"] == "tickwell.stream.opened"
        world.context.feed.close()
        assert [event async for event in events] == []
    async with httpx.AsyncClient(timeout=100) as client:
        refused = await client.get(f"{url}/events")
    assert refused.status_code == 503
    assert refused.json()["type"] == "urn:tickwell:problem:not-running"
    assert refused.headers["retry-after"]


async def test_what_happens_in_a_project_wakes_no_look_at_another(world):
    feed = world.context.feed
    listeners = [feed.subscribe(project, "ada") for project in ("default", "other")]
    mine, yours = feed._wakes["default"], feed._wakes["other"]
    job = SimpleNamespace(project="other")
    report: Any = SimpleNamespace(claim=SimpleNamespace(job=job))
    world.events.emit(AttemptsFinished(reports=[report]))
    world.events.emit(Planned(executions=1, skipped=0))
    assert (mine.is_set(), yours.is_set()) == (False, True)
    for each in listeners:
        feed.unsubscribe(each)
    assert feed._wakes == {}


def an_execution(**fields):
    """One that is due at the instant 5,000."""
    row: dict[str, Any] = {
        "id": fresh_id(),
        "project": "default",
        "job_id": "j",
        "job_version": 1,
        "kind": Kind.FIRE,
        "fire_time": 5_000,
        "run_at": 5_000,
        "queue": "default",
        "ability": "http",
        "created_at": 0,
    }
    return Execution(**row | fields)


async def looked(world):
    """Whatever happens from here on is told."""
    await until(world, lambda: world.context.feed.looked("default"))


async def told(subscription, world, *types):
    """Wait until these have been told; all that was."""
    seen: list[feeds.FeedEvent] = []
    while not {f"tickwell.{each}" for each in types} <= {event.type for event in seen}:
        await world.clock.wait(subscription.wake, 0.05)
        subscription.wake.clear()
        while subscription.waiting:
            seen.append(subscription.waiting.popleft())
    return seen


async def test_what_is_fired_and_what_is_requested_are_told_apart(world):
    await world.add()
    subscription = world.context.feed.subscribe("default", "ada")
    await looked(world)
    id = (await world.http.post("/jobs/report/trigger")).json()["id"]
    seen = await told(subscription, world, "execution.requested")
    assert [event.type for event in seen if "requested" in event.type or "fired" in event.type] == [
        "tickwell.execution.requested"
    ]
    assert seen[0].subject == f"execution/{id}"
    job = (await world.http.get("/jobs/report")).json()["id"]
    now = world.clock.now()
    entry = (await world.store.get_jobs("default", [job]))[0]
    fired = new_execution(
        entry.job, now, id=execution_id(job, now), kind=Kind.FIRE, overlap=Overlap.ALLOW
    )
    await world.store.add_executions([fired], now, 60_000)
    seen = await told(subscription, world, "execution.fired", "execution.queued")
    assert [event.type for event in seen] == [
        "tickwell.execution.fired",
        "tickwell.execution.queued",
    ]
    assert {event.job for event in seen} == {job}


async def test_a_late_start_is_told_once(world):
    feed, subscription = world.context.feed, Subscription("default", "ada")
    feed._listeners["default"] = [subscription]
    one = an_execution(state=State.RUNNING, attempt=1)
    before = feeds._Seen(0, {one.id: feeds._state_of(one)})
    late = replace(one, started_at=one.run_at + LATE)
    feed._tell_execution(late, before)
    feed._tell_execution(late, feeds._Seen(0, {one.id: feeds._state_of(late)}))
    ended = replace(late, state=State.SUCCEEDED)
    feed._tell_execution(ended, feeds._Seen(0, {one.id: feeds._state_of(late)}))
    types = [event.type.removeprefix("tickwell.execution.") for event in subscription.waiting]
    assert types.count("late") == 1
    assert types[0] == "late"
    assert types[-1] == "succeeded"
    feed._listeners.clear()


async def test_a_pause_by_a_policy_is_told_whichever_process_did_it(world):
    await world.add()
    entry = (await world.store.list_jobs(JobFilter(project="default"))).items[0]
    subscription = world.context.feed.subscribe("default", "ada")
    await looked(world)
    dead = replace(an_execution(state=State.DEAD), job_id=entry.job.id)
    now = world.clock.now()
    await world.store.change_jobs("default", [entry.job.id], pause(BY_POLICY, "3 died"), now)
    seen = feeds._Seen(now, {}, {dead.job_id: 5})
    await world.context.feed._tell_pauses("default", seen, now - 1_000)
    [event] = [each for each in subscription.waiting if each.type == "tickwell.job.paused"]
    assert event.data == {"name": "report", "by": "policy", "why": "3 died"}
    assert seen.failing == {}
    long_ago = feeds._Seen(now, {}, {dead.job_id: 5})
    await world.context.feed._tell_pauses("default", long_ago, now + 3_600_000)
    assert len([each for each in subscription.waiting if each.type == "tickwell.job.paused"]) == 1
    world.context.feed.unsubscribe(subscription)


async def test_passed_over_fire_times_are_told_and_skipped_executions_are_not_twice(world):
    await world.add()
    entry = (await world.store.list_jobs(JobFilter(project="default"))).items[0]
    assert not world.events.wants(FiresSkipped)
    subscription = world.context.feed.subscribe("default", "ada")
    assert world.events.wants(FiresSkipped)
    missed = RangeSkip(job_id="x", first=0, last=60_000, count=2, reason=Reason.MISFIRE)
    met = replace(missed, count=1, last=0, reason=Reason.OVERLAP)
    world.events.emit(FiresSkipped(skips=[(entry.job, missed), (entry.job, met)]))
    [event] = [each for each in subscription.waiting if each.type == "tickwell.job.skipped"]
    assert event.data == {
        "name": "report",
        "reason": "misfire",
        "first": "1970-01-01T00:00:00.000Z",
        "last": "1970-01-01T00:01:00.000Z",
        "count": 2,
    }
    world.context.feed.unsubscribe(subscription)
    assert not world.events.wants(FiresSkipped)


async def test_a_listener_hears_the_types_and_the_job_that_it_asked_for(world, url):
    await world.add()
    job = (await world.http.get("/jobs/report")).json()["id"]
    feed = world.context.feed
    query = "?type=execution.dead&type=tickwell.job&job=report"
    async with (
        httpx.AsyncClient(timeout=100) as client,
        client.stream("GET", f"{url}/events{query}") as answer,
    ):
        await until(world, lambda: feed.listeners)
        [subscription] = feed._listeners["default"]
        feed.tell("default", "tickwell.execution.running", "x", None, job=job)
        feed.tell("default", "tickwell.execution.dead", "x", None, job="other")
        feed.tell("default", "tickwell.execution.dead", "x", 1, job=job)
        feed.tell("default", "tickwell.job.edited", "x", 2, job=job)
        feed.tell("default", "tickwell.stream.gap", "stream", 3)
        assert subscription.interest.job == job
        found: list[Any] = []
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: "))["data"])
            if len(found) == 4:
                break
        assert found == [{"read_again": True}, 1, 2, 3]


async def test_types_that_no_event_has_and_unknown_jobs_are_refused(world, url):
    async with httpx.AsyncClient(timeout=100) as client:
        unknown = await client.get(f"{url}/events?type=execution.late.ish")
        assert unknown.status_code == 422
        assert "no event has the type 'execution.late.ish'" in unknown.text
        assert (await client.get(f"{url}/events?job=nobody")).status_code == 404


def test_all_types_are_described():
    described = schema_of(Event)["properties"]["type"]["enum"]
    streams_own = {"tickwell.stream.opened", "tickwell.stream.gap"}
    assert {f"tickwell.{each}" for each in EVENT_TYPES} | streams_own == set(described)
    assert {f"execution.{state.value}" for state in State} <= set(EVENT_TYPES)
