"""The connections of the client, each with a count of what comes in over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import EMPTY_BODY_STATUS_CODES

#: Bytes that one answer may take with all that is around its body: its head, interim answers,
#: sizes of chunks. The largest that the parser takes is half of it.
MOST_RECEIVED = 2 * 1024 * 1024


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
    """Makes such connections."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        make: Callable[..., ResponseHandler] = Counted
        self._factory = partial(make, loop=self._loop)

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:
        # In the pool a single byte is too much: it would answer the next webhook before it is sent.
        protocol.received = MOST_RECEIVED
        super()._release(key, protocol, should_close=should_close)
