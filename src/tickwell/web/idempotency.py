"""`Idempotency-Key`: a POST that is sent again is answered again, and done once."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from secrets import token_hex
from typing import Any

from fastapi import Request, Response

from tickwell.errors import InvalidInput, StoreError
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor
from tickwell.services.time import Time
from tickwell.web.problems import InFlight, KeyReused

KIND = "idempotency"
#: Milliseconds that an answer is kept.
KEPT = 24 * 3600 * 1000
#: Milliseconds after which a request that was never answered is taken for dead.
PATIENCE = 60 * 1000
#: What an answer is given again with.
_HEADERS = ("etag", "location")
_BUSY = "the first request with this Idempotency-Key is still being answered"


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
        record = Record(
            kind=KIND,
            project=actor.project,
            key=name,
            document={"asked": _hash(request, body), "begun": now, "owner": token_hex(8)},
            expires_at=now + KEPT,
        )
        if await self.store.put_record(record, now, expected_version=0):
            return await self._done(replace(record, version=1), act)
        found = await self.store.get_record(KIND, actor.project, name, now)
        if found is None or not _was_lost(found.document, record.document):
            return _replayed({} if found is None else found.document, record.document)
        if not await self.store.put_record(record, now, expected_version=found.version):
            raise InFlight(_BUSY)
        request.state.sent_again = True
        return await self._done(replace(record, version=found.version + 1), act)

    async def _done(self, record: Record, act: Callable[[], Awaitable[Response]]) -> Response:
        try:
            response = await act()
        except StoreError:
            # It may have been done all the same: a repetition is told apart from a new request.
            with suppress(StoreError):
                await self._write(record, {"begun": 0})
            raise
        except BaseException:
            with suppress(StoreError):
                if await self._own(record) is not None:
                    await self.store.delete_record(record.kind, record.project, record.key)
            raise
        await self._write(record, {"answer": _kept(response)})
        return response

    async def _write(self, record: Record, more: dict[str, Any]) -> None:
        """Complete the record, unless a repetition has taken it over meanwhile: its answer counts.

        Usually the version is known; where an expired record was replaced, it is read.
        """
        wanted = replace(record, document=record.document | more)
        if await self.store.put_record(wanted, self.clock.now(), expected_version=record.version):
            return
        own = await self._own(record)
        if own is not None:
            await self.store.put_record(wanted, self.clock.now(), expected_version=own.version)

    async def _own(self, record: Record) -> Record | None:
        """The stored record, if it is still that of this request."""
        now = self.clock.now()
        found = await self.store.get_record(record.kind, record.project, record.key, now)
        is_own = found is not None and found.document.get("owner") == record.document["owner"]
        return found if is_own else None


def is_sent_again(request: Request) -> bool:
    """Whether a try with the same key came before, and nobody knows what became of it."""
    # Not by an attribute of the state: one that is missing costs more than the rest of the look.
    return bool(request.scope.get("state", {}).get("sent_again"))


def _was_lost(before: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the same request was begun and is not answered any more."""
    if before["asked"] != new["asked"] or "answer" in before:
        return False
    return bool(new["begun"] - before.get("begun", 0) >= PATIENCE)


def _replayed(before: dict[str, Any], new: dict[str, Any]) -> Response:
    if before.get("asked", new["asked"]) != new["asked"]:
        raise KeyReused(
            "this Idempotency-Key came with another request before; use a new one for each"
        )
    stored = before.get("answer")
    if stored is None:
        raise InFlight(_BUSY)
    headers = stored["headers"] | {"idempotency-replayed": "true"}
    return Response(b64decode(stored["body"]), stored["status"], headers, stored["type"])


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
