"""The one client for all outgoing requests: guarded, bounded, without cookies or redirects."""

from __future__ import annotations

import asyncio
import encodings.idna  # noqa: F401 - else the first dial loads it: 2 ms, at an instant
import socket
import ssl
from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from tickwell.executors.http.client.connections import Connector
from tickwell.executors.http.client.failure import Failure, words_of
from tickwell.executors.http.network.guard import Guard, NoAddress, Refused
from tickwell.executors.http.network.resolver import Resolver
from tickwell.executors.http.request.request import Request
from tickwell.executors.http.request.values import Unsendable
from tickwell.executors.http.response.answer import MOST_READ, Answer
from tickwell.executors.http.tls.handshake import harden, load
from tickwell.release import VERSION

#: Seconds. Below the 5 s after which common servers hang up: a POST that meets a closing
#: connection fails, and nobody knows whether it was heard.
KEEP_ALIVE = 4.0
#: Bytes buffered per connection before reading pauses.
BUFFER = 16 * 1024
#: Addresses of a name that are tried.
MOST_ADDRESSES = 8
MOST_CONTEXTS = 256
#: Bytes of a body from which on it is sent piece by piece.
LARGE = 128 * 1024

_OURS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class Client:
    """A pool of connections. Made inside of the loop that uses it."""

    #: For those who must not import this module early.
    failure = Failure

    def __init__(
        self,
        guard: Guard,
        resolver: Resolver,
        context: ssl.SSLContext,
        make_context: Callable[[], ssl.SSLContext],
    ) -> None:
        self._make_context = make_context
        #: By certificate shown: connections are pooled by their context.
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._agent = _agent()
        self._session = aiohttp.ClientSession(
            connector=Connector(
                resolver=GuardedResolver(guard, resolver),
                socket_factory=SocketFactory(guard),
                use_dns_cache=False,
                ssl=harden(context),
                limit=0,  # requests per host are limited before; see host_limit.py
                keepalive_timeout=KEEP_ALIVE,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            skip_auto_headers=_OURS,
            auto_decompress=False,
            trust_env=False,
            read_bufsize=BUFFER,
        )
        # aiohttp would send some methods a second time where a kept connection breaks: whether to
        # try again is for the retry policy to decide, and a second try is another attempt.
        self._session._retry_connection = False  # noqa: SLF001

    async def send(self, request: Request) -> Answer:
        """One request, one answer. The caller sets the deadline.

        Raises `Refused`, `Unsendable`, or `Failure` in words that people understand.
        """
        headers = {
            "User-Agent": self._agent,
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            **request.headers,
        }
        options: dict[str, Any] = {}
        if request.certificate is not None:
            options["ssl"] = await self._showing(request.certificate)
        try:
            response = await self._session.request(
                request.method,
                _url(request.url),
                headers=headers,
                # In one piece a large body would keep the loop busy.
                data=BytesIO(request.body) if len(request.body) > LARGE else request.body or None,
                allow_redirects=False,
                **options,
            )
            try:
                body, complete = await _read(response.content)
            except BaseException:
                response.close()
                raise
            if not complete:
                response.close()  # else the connection is back in the pool by now
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, Refused):
                raise error.os_error from None
            raise Failure(words_of(error)) from error
        except (aiohttp.InvalidURL, ValueError) as error:
            raise Unsendable(f"the client refuses it: {error}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Failure(words_of(error)) from error
        return Answer(response.status, response.reason or "", response.headers, body, complete)

    async def _showing(self, certificate: str) -> ssl.SSLContext:
        context = self._contexts.get(certificate)
        if context is None:
            # Reading the system's authorities takes 40 ms, and a key up to 6: not in the loop.
            context = await asyncio.to_thread(self._make_showing, certificate)
            if len(self._contexts) >= MOST_CONTEXTS:
                self._contexts.clear()
            self._contexts[certificate] = context
        return context

    def _make_showing(self, certificate: str) -> ssl.SSLContext:
        context = harden(self._make_context())
        load(context, certificate)
        return context

    async def close(self) -> None:
        """Hang up."""
        await self._session.close()


def _agent() -> str:
    return f"Tickwell/{VERSION}" if VERSION else "Tickwell"


@lru_cache(maxsize=4096)
def _url(text: str) -> URL:
    return URL(text, encoded=True)  # taken apart and put together by us; not to be read anew


async def _read(content: aiohttp.StreamReader) -> tuple[bytes, bool]:
    """The body, and whether it ended before the limit."""
    body = b""
    while len(body) < MOST_READ:
        chunk = await content.read(MOST_READ - len(body))
        if not chunk:
            return body, True
        body += chunk
        if content.at_eof():
            return body, True
    return body, content.at_eof()


class GuardedResolver(AbstractResolver):
    """Hands a name's addresses to the client only if every one of them may be dialled."""

    def __init__(self, guard: Guard, resolver: Resolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        try:
            answers = await self._guard.look_up(host, port, self._resolver)
        except Refused:
            raise NoAddress from None
        return [_result(host, answer, port) for answer in answers[:MOST_ADDRESSES]]

    async def close(self) -> None:
        """The resolver belongs to its creator."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


class SocketFactory:
    """The last gate: sees the very address of every dial, literal ones too."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def __call__(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for an address that may be dialled."""
        family, kind, protocol, _, (address, port, *_rest) = info
        self._guard.check_address(address, port)
        return socket.socket(family, kind, protocol)
