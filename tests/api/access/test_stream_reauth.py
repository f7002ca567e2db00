"""Who listens is asked again who they are, and what they may; it counts as one request."""

import asyncio

from tickwell.services.access.actor import Role
from tickwell.services.limits.request_limits import RequestLimits
from tickwell.web.authentication import Authentication


class Listener:
    """A stream as the server runs it, by hand: what was sent, and when it ends."""

    def __init__(self, app, headers):
        self.sent, self.more = [], asyncio.Event()
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/api/v1/events",
            "scheme": "http",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
        }
        self.task = asyncio.create_task(app(scope, self.receive, self.send))

    async def receive(self):
        await asyncio.Event().wait()

    async def send(self, message):
        self.sent.append(message)
        self.more.set()

    async def hear(self, word):
        """Wait until a part with the word was sent."""
        while not any(word in part.get("body", b"") for part in self.sent):
            self.more.clear()
            await self.more.wait()


async def test_a_key_that_is_revoked_hears_no_more(house, monkeypatch):
    monkeypatch.setattr("tickwell.api.http.event_stream.ASKED", 0.0)
    shown = await house.key("a", Role.VIEWER)
    limits = RequestLimits(house.world.clock, without_key=0, with_key=1)
    context = house.world.context
    context.authenticate = Authentication(house.admin, limits).authenticate
    listener = Listener(house.world.app, shown)
    await listener.hear(b"stream.opened")
    feed = context.feed
    for number in range(5):
        feed.tell("a", "tickwell.test", "x", f"word {number}")
        await listener.hear(f"word {number}".encode())
    admin = await house.key("a", Role.ADMIN)
    id = shown["authorization"].split("_")[1]
    assert (await house.http.delete(f"/keys/{id}", headers=admin)).status_code == 200
    house.admin.key_check._cache.forget(id)  # seconds pass
    feed.tell("a", "tickwell.test", "x", "canary")
    await listener.task
    assert all(b"canary" not in part.get("body", b"") for part in listener.sent)
    assert feed.listeners == 0
