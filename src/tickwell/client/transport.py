"""Sends requests over HTTP, and again what may be sent again."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from random import SystemRandom
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from tickwell.client.call import JSON, Answer, Call
from tickwell.client.refusal import refusal
from tickwell.clock import StoreClock, wall_millis
from tickwell.errors import InvalidInput, InvalidSetting, StoreUnavailable, TickwellError
from tickwell.ids import new_id

SERVER, KEY = "TICKWELL_SERVER", "TICKWELL_KEY"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address that was looked at, and the headers that go with every request."""

    url: str
    headers: dict[str, Any] = field(repr=False)  # the key is among them

    @classmethod
    def of(cls, server: str | None, key: str | None, project: str | None) -> Endpoint:
        """By arguments, else by the environment."""
        url = _checked(os.environ.get(SERVER, "") if server is None else server)
        shown = os.environ.get(KEY, "") if key is None else key
        headers = {"User-Agent": "tickwell-client"}
        if shown:
            if not (shown.isascii() and shown.isprintable() and " " not in shown):
                raise InvalidSetting("contains characters that no key has", field="key")
            headers["Authorization"] = f"Bearer {shown}"
        if project is not None:
            headers["X-Tickwell-Project"] = project
        return cls(url, headers)


def _checked(url: str) -> str:
    hint = "For example https://jobs.example.com, or http://127.0.0.1:8080"
    if not url:
        raise InvalidSetting("no server is set", field="server", hint=f"Set {SERVER}. {hint}")
    quoted = url.rpartition("@")[2]  # before it a password may stand
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        reason = error if quoted == url else "the part before it cannot be read"
        raise InvalidSetting(
            f"{quoted!r} is not a server address: {reason}", field="server", hint=hint
        ) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise InvalidSetting(f"{quoted!r} is not a server address", field="server", hint=hint)
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidSetting(
            "must not have a user, query or fragment", field="server", hint=f"Set {KEY}. {hint}"
        )
    return url.rstrip("/")


#: Seconds before the first repetition; doubled for each that follows.
PAUSE = 0.1
#: Seconds that a server may ask us to wait; more is for the caller to decide.
PATIENCE = 30.0
#: Seconds without a sign of life after which a stream of events is broken.
SILENCE = 45.0
_PASSING = {429, 502, 503, 504}


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

    def __init__(self, endpoint: Endpoint, *, timeout: float, retries: int) -> None:
        self.endpoint = endpoint
        self.timeout = timeout
        self.retries = retries
        self.clock = StoreClock()
        self.random = SystemRandom()
        self._session: aiohttp.ClientSession | None = None
        #: The server's time of its first answer, and our monotonic time then.
        self._sample: tuple[float, float] | None = None

    def server_now(self) -> int | None:
        """The server's time; None: it has not answered yet, or does not say.

        `Date` has whole seconds, so this is within half a second of its clock.
        """
        if self._sample is None:
            return None
        date, then = self._sample
        return int((date + 0.5 + self.clock.monotonic() - then) * 1000)

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
        headers = self.endpoint.headers | {"Accept": "text/event-stream"}
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
                self.note_time(response.headers.get("Date"))
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

    def note_time(self, date: str | None) -> None:
        """Once, so that all moments of one session are relative to one reading."""
        if self._sample is None and date is not None:
            with suppress(ValueError):
                moment = parsedate_to_datetime(date)
                self._sample = moment.timestamp(), self.clock.monotonic()

    def _prepared(self, call: Call[Any]) -> tuple[dict[str, str], bytes | None]:
        headers = self.endpoint.headers | {"Accept": JSON}
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
        return URL(self.endpoint.url + call.path, encoded=True).with_query(list(call.query))

    def _where(self, call: Call[Any]) -> str:
        return f"{call.method} {self.endpoint.url}{call.path}"

    def _unreachable(self, error: Exception) -> StoreUnavailable:
        reason = str(error) or type(error).__name__
        if isinstance(error, TimeoutError):
            reason = f"no answer in {self.timeout:g} s"
        return StoreUnavailable(f"{self.endpoint.url} cannot be reached: {reason}")


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
