"""Live events over a real server: streams, their bounds, and who may hear what."""

import asyncio
import contextlib
import json
import socket
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tickwell.api.http import event_stream as streams
from tickwell.api.server import serve
from tickwell.domain.event import AttemptsFinished, Planned
from tickwell.errors import LimitReached
from tickwell.services import event_feed as feeds
from tickwell.services.access.actor import Actor, Permission


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
    with pytest.raises(LimitReached, match="you listen"):
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
    assert "a read failed" in caplog.text


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
