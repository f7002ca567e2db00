"""The connections of the client, each with a count of what comes in over it."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import aiohappyeyeballs
import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import EMPTY_BODY_STATUS_CODES

from tickwell.executors.http.client.host_limit import HostLimit
from tickwell.executors.http.network.resolver import PROJECT

#: Bytes that one answer may take with all that is around its body: its head, interim answers,
#: sizes of chunks. The largest that the parser takes is half of it.
MOST_RECEIVED = 2 * 1024 * 1024
#: Of one project, under way at once. Each takes 1 to 7 ms of the event loop: what comes in over a
#: hundred connections in one moment would hold up the webhooks of all others.
MOST_HANDSHAKES = 20
#: Seconds for one; a receiver that stalls has its slot no longer.
HANDSHAKE_LIMIT = 10.0


class Flood(aiohttp.ClientPayloadError):
    """More came than an answer takes; none of it need be a body, which is counted apart."""


class Counted(ResponseHandler):
    """Hangs up on a receiver that sends without end what is neither a head nor a body.

    Blank lines, interim answers and extensions of chunks would be read until the deadline: half a
    gigabyte in 2 s, and half of the loop's time.
    """

    received = 0

    def set_response_params(self, **params: Any) -> None:
        """Begin to count for another answer."""
        self.received = 0
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Read on, unless it is too much."""
        self.received += len(data)
        if self.received <= MOST_RECEIVED:
            super().data_received(data)
        elif self.transport is not None:
            flood = Flood()
            self.set_exception(flood)  # for who waits for the head
            if self._payload is not None:
                self._payload.set_exception(flood)
            self.transport.abort()

    def feed_data(self, data: Any, size: int = 0) -> None:
        """Take an answer; hang up after a 204 with a body, which nobody reads."""
        message = data[0]
        if message.code in EMPTY_BODY_STATUS_CODES and _announces_body(message.headers):
            self.force_close()
        super().feed_data(data, size)


def _announces_body(headers: Mapping[str, str]) -> bool:
    return headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in headers


class Connector(aiohttp.TCPConnector):
    """Makes such connections; a project has a number of handshakes under way at once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        make: Callable[..., ResponseHandler] = Counted
        self._factory = partial(make, loop=self._loop)
        self._handshakes = HostLimit(MOST_HANDSHAKES, self._loop.time)

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:
        # In the pool a single byte is too much: it would answer the next webhook before it is sent.
        protocol.received = MOST_RECEIVED
        super()._release(key, protocol, should_close=should_close)
        idle = self._conns.get(key)
        if idle and idle[-1][0] is protocol:
            # Used last, used first. aiohttp takes the one that has rested longest: as many as a
            # burst needed then stay open for as long as a few webhooks a second go by turns.
            idle.rotate(1)

    async def _wrap_create_connection(
        self, *args: Any, addr_infos: list[Any], req: Any, **options: Any
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        """As the original, which has no room between the connection and the handshake.

        A host that takes no connections must not keep the slots of those that do.
        """
        if not options.get("ssl"):
            return await super()._wrap_create_connection(
                *args, addr_infos=addr_infos, req=req, **options
            )
        client_error = options.pop("client_error", aiohttp.ClientConnectorError)
        options.pop("timeout")  # the attempt's deadline is the only one
        try:
            raw = await aiohappyeyeballs.start_connection(
                addr_infos,
                happy_eyeballs_delay=self._happy_eyeballs_delay,
                interleave=self._interleave,
                loop=self._loop,
                socket_factory=self._socket_factory,
            )
            return await self._shake_hands(raw, *args, **options)
        except ssl.CertificateError as error:
            raise aiohttp.ClientConnectorCertificateError(req.connection_key, error) from error
        except ssl.SSLError as error:
            raise aiohttp.ClientConnectorSSLError(req.connection_key, error) from error
        except OSError as error:
            raise client_error(req.connection_key, error) from error

    async def _shake_hands(
        self, raw: socket.socket, *args: Any, **options: Any
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        project = PROJECT.get()
        try:
            await self._handshakes.enter(project, patient=True)
        except BaseException:
            raw.close()
            raise
        try:
            return await self._loop.create_connection(
                *args, **options, sock=raw, ssl_handshake_timeout=HANDSHAKE_LIMIT
            )
        finally:
            self._handshakes.leave(project)
