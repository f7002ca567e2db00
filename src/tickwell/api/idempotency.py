"""`Idempotency-Key`: a POST that is sent again is answered again, and done once."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256

from fastapi import Request, Response

from tickwell.api.problems import InFlight, KeyReused
from tickwell.errors import InvalidInput, StoreError
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor
from tickwell.services.time import Time

KIND = "idempotency"
#: Milliseconds that an answer is kept.
KEPT = 24 * 3600 * 1000
#: Milliseconds after which a request that was never answered is taken for dead.
PATIENCE = 60 * 1000
#: What an answer is given again with.
_HEADERS = ("etag", "location")


def key_of(request: Request) -> str | None:
    """The key that the client sent."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= 255 and key.isprintable()):
        raise InvalidInput("1 to 255 printable characters are needed", field="Idempotency-Key")
    return key


class Idempotency:
    """Keeps the answers to requests that came with a key, per project and actor."""

    def __init__(self, store: RecordStore, clock: Time) -> None:
        self.store = store
        self.clock = clock

    async def once(
        self, request: Request, actor: Actor, body: bytes, act: Callable[[], Awaitable[Response]]
    ) -> Response:
        """The answer to the first request with its key; without a key, the answer to this one."""
        key = key_of(request)
        if key is None:
            return await act()
        now = self.clock.now()
        name = sha256(f"{actor.name}\0{key}".encode()).hexdigest()
        asked = _hash(request, body)
        record = Record(
            kind=KIND,
            project=actor.project,
            key=name,
            document={"asked": asked},
            expires_at=now + PATIENCE,
        )
        if not await self.store.put_record(record, now, expected_version=0):
            return await self._again(actor.project, name, asked, now)
        return await self._first(record, act)

    async def _first(self, record: Record, act: Callable[[], Awaitable[Response]]) -> Response:
        try:
            response = await act()
        except BaseException:
            # Refused, or failed: what was done all the same a second try finds, by name or key.
            with suppress(StoreError):  # then it ends by itself, after a while
                await self.store.delete_record(record.kind, record.project, record.key)
            raise
        now = self.clock.now()
        record.document["answer"] = _kept(response)
        record.expires_at = now + KEPT
        await self.store.put_record(record, now)
        return response

    async def _again(self, project: str, name: str, asked: str, now: int) -> Response:
        found = await self.store.get_record(KIND, project, name, now)
        document = {} if found is None else found.document
        if document.get("asked", asked) != asked:
            raise KeyReused(
                "this Idempotency-Key came with another request before; use a new one for each"
            )
        kept = document.get("answer")
        if kept is None:
            raise InFlight("the first request with this Idempotency-Key is still being answered")
        headers = kept["headers"] | {"idempotency-replayed": "true"}
        return Response(b64decode(kept["body"]), kept["status"], headers, kept["type"])


def _hash(request: Request, body: bytes) -> str:
    head = f"{request.method} {request.url.path}?{request.url.query}\n"
    return sha256(head.encode() + body).hexdigest()


def _kept(response: Response) -> dict[str, object]:
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    return {
        "status": response.status_code,
        "type": response.media_type,
        "headers": headers,
        "body": b64encode(bytes(response.body)).decode(),
    }
