"""Sends requests over HTTP, and again what may be sent again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from random import SystemRandom
from typing import Any

import aiohttp
from yarl import URL

from tickwell.client.call import JSON, Call
from tickwell.client.place import Place
from tickwell.client.refusal import refusal
from tickwell.clock import StoreClock, wall_millis
from tickwell.errors import InvalidInput, StoreUnavailable, TickwellError
from tickwell.ids import new_id

#: Seconds before the first repetition; doubled for each that follows.
PAUSE = 0.1
#: Seconds that a server may ask us to wait; more is for the caller to decide.
PATIENCE = 30.0
#: Seconds without a sign of life after which a stream of events is broken.
SILENCE = 45.0
_PASSING = {429, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    document: Any
    #: It was given before, to another request with the same key.
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, and whether trying again can help."""

    error: TickwellError
    #: It may be gone at the next try.
    passing: bool
    #: The server has certainly done nothing.
    untouched: bool = False
    retry_after: float | None = None

    def rest(self, call: Call[Any], pause: float) -> float | None:
        """Seconds until the next try; None: there is none."""
        if not self.passing or not (call.repeatable or self.untouched):
            return None
        wanted = self.retry_after or 0.0
        return None if wanted > PATIENCE else max(pause, wanted)


class Transport:
    """One session of connections to one server."""

    def __init__(self, place: Place, *, timeout: float, retries: int) -> None:
        self.place = place
        self.timeout = timeout
        self.retries = retries
        self.clock = StoreClock()
        self.random = SystemRandom()
        self._session: aiohttp.ClientSession | None = None

    async def answer(self, call: Call[Any]) -> Answer:
        """The answer to a request; errors are those of our tree."""
        headers, body = self._prepared(call)
        for pause in (*self.pauses(), None):
            found = await self._try(call, headers, body)
            if isinstance(found, Answer):
                return found
            rest = None if pause is None else found.rest(call, pause)
            if rest is None:
                raise found.error
            await self.rest(rest)
        raise AssertionError("the last try has no pause after it")

    async def lines(self, call: Call[Any]) -> AsyncGenerator[bytes, None]:
        """The lines of a stream, until it ends or breaks; the first try is the only one."""
        limits = aiohttp.ClientTimeout(sock_connect=self.timeout, sock_read=SILENCE)
        headers = self.place.headers | {"Accept": "text/event-stream"}
        try:
            async with self._open().request(
                call.method, self._url(call), headers=headers, timeout=limits, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise _refused(response, await response.read(), self._where(call)).error
                async for line in response.content:
                    yield line
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable(error) from error

    def pauses(self) -> list[float]:
        """Before each repetition, half of it by chance: many clients do not come as one."""
        steps = (PAUSE * 2**number for number in range(self.retries))
        return [step * self.random.uniform(0.5, 1.0) for step in steps]

    async def rest(self, seconds: float) -> None:
        """Wait."""
        await self.clock.wait(asyncio.Event(), seconds)

    async def close(self) -> None:
        """Let go of connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _try(
        self, call: Call[Any], headers: Mapping[str, str], body: bytes | None
    ) -> Answer | Failure:
        limits = aiohttp.ClientTimeout(total=self.timeout)
        try:
            async with self._open().request(
                call.method,
                self._url(call),
                headers=headers,
                data=body,
                timeout=limits,
                allow_redirects=False,
            ) as response:
                content = await response.read()
        except aiohttp.ClientConnectorError as error:
            return Failure(self._unreachable(error), passing=True, untouched=True)
        except (aiohttp.ClientError, TimeoutError) as error:
            return Failure(self._unreachable(error), passing=True)
        is_json = response.content_type == JSON
        if response.status < 300 or (is_json and response.status == 503):  # health, told in full
            document = _read(content)
            if is_json and document is not None:
                replayed = "idempotency-replayed" in response.headers
                return Answer(response.status, document, replayed)
        return _refused(response, content, self._where(call))

    def _prepared(self, call: Call[Any]) -> tuple[dict[str, str], bytes | None]:
        headers = self.place.headers | {"Accept": JSON}
        if call.method == "POST" and call.repeatable:
            headers["Idempotency-Key"] = new_id(wall_millis(), self.random)
        body = None if call.body is None else _written(call.body)
        if body is not None:
            headers["Content-Type"] = JSON
        return headers | dict(call.headers), body

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A key is all that identifies us: no cookie of one answer goes with the next request.
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
            # A DELETE would be sent again behind our back, and answered that nothing is there.
            self._session._retry_connection = False  # noqa: SLF001
        return self._session

    def _url(self, call: Call[Any]) -> URL:
        return URL(self.place.url + call.path, encoded=True).with_query(list(call.query))

    def _where(self, call: Call[Any]) -> str:
        return f"{call.method} {self.place.url}{call.path}"

    def _unreachable(self, error: Exception) -> StoreUnavailable:
        said = str(error) or type(error).__name__
        if isinstance(error, TimeoutError):
            said = f"no answer in {self.timeout:g} s"
        return StoreUnavailable(f"{self.place.url} cannot be reached: {said}")


def _refused(response: aiohttp.ClientResponse, content: bytes, where: str) -> Failure:
    document, status = _read(content), response.status
    header = response.headers.get("Retry-After", "")
    after = float(header) if header.isdigit() else None
    in_flight = isinstance(document, dict) and str(document.get("type")).endswith(":in-flight")
    return Failure(
        refusal(status, document, where, after),
        # A limit that says no time is not one that waiting helps against.
        passing=in_flight or (status in _PASSING and (status != 429 or after is not None)),
        untouched=status == 429,
        retry_after=after,
    )


def _read(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _written(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"this is not JSON: {error}") from None
