"""A request that a repetition of itself has overtaken does not overwrite its answer."""

from dataclasses import dataclass

import pytest
from fastapi import Request, Response

from tickwell.services.access.actor import Actor, Permission
from tickwell.stores.memory import MemoryStore
from tickwell.web.idempotency import PATIENCE, Idempotency

ACTOR = Actor(name="key:k", project="default", permissions=frozenset(Permission))


@dataclass
class Time:
    at: int = 1_000_000

    def now(self) -> int:
        return self.at


def request() -> Request:
    return Request(
        {
            "type": "http",
            "method": "POST",
            "path": "/api/v1/jobs",
            "query_string": b"",
            "headers": [(b"idempotency-key", b"k"), (b"host", b"test")],
            "state": {},
        }
    )


def answering(text: str):
    async def act() -> Response:
        return Response(text, media_type="text/plain")

    return act


async def test_the_answer_of_the_repetition_is_kept():
    store, clock = MemoryStore(), Time()
    await store.open()
    once = Idempotency(store, clock)

    async def slow() -> Response:
        clock.at += PATIENCE
        repeated = await once.once(request(), ACTOR, b"{}", answering("second"))
        assert repeated.body == b"second"
        return Response("first", media_type="text/plain")

    assert (await once.once(request(), ACTOR, b"{}", slow)).body == b"first"
    replayed = await once.once(request(), ACTOR, b"{}", answering("third"))
    assert replayed.body == b"second"
    assert replayed.headers["idempotency-replayed"] == "true"


async def test_a_failure_does_not_forget_it_either():
    store, clock = MemoryStore(), Time()
    await store.open()
    once = Idempotency(store, clock)

    async def fails() -> Response:
        clock.at += PATIENCE
        await once.once(request(), ACTOR, b"{}", answering("second"))
        raise ValueError("too late")

    with pytest.raises(ValueError, match="too late"):
        await once.once(request(), ACTOR, b"{}", fails)
    replayed = await once.once(request(), ACTOR, b"{}", answering("third"))
    assert replayed.body == b"second"
    assert replayed.headers["idempotency-replayed"] == "true"
