"""One connection to the server: how large a request may be, how long it may take, how many wait.

The parser keeps whatever comes before the end of a head, however much and however slowly.
"""

from __future__ import annotations

import json
import socket
from asyncio import TimerHandle, Transport
from http import HTTPStatus
from itertools import count
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tickwell.web.problem_document import MEDIA_TYPE, kind_of, problem_document

#: Bytes of a head, headers in it, and bytes of one of them.
MOST_HEAD, MOST_HEADERS, LONGEST_HEADER = 64 * 1024, 50, 8 * 1024
#: Seconds that a request may take to arrive, from its first byte or from the connection on.
PATIENCE = 20.0
_NUMBERS = count()


class Unfit(Exception):
    """A head that is not passed on."""


class Connection(HttpToolsProtocol):
    """Uvicorn's, with bounds. Where there are too many, the one that waits longest makes room."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.number = next(_NUMBERS)
        #: Bytes of a head that has not ended, or of what is neither head nor body.
        self.head = 0
        self.in_head = True
        #: Whether what came last brought the end of a head or a part of a body.
        self.came_on = False
        #: The request has arrived, and is being answered or was.
        self.arrived = False
        self.refusal: HTTPStatus | None = None
        self.patience: TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether it waits for its client, not the client for us."""
        return not self.arrived or self.cycle.response_complete

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Expect a request, soon."""
        super().connection_made(transport)
        # The standard loop forgets it where a listener was made without naming its protocol: then
        # a body waits 40 ms for the client's word about its head.
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self._make_room()
        self.patience = self.loop.call_later(PATIENCE, self._lose_patience)

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        self._be_patient()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, or several."""
        self.came_on = False
        super().data_received(data)
        # After an answer uvicorn stops its own clock at the first byte, if only of a blank line.
        if not self.idle or self.transport.is_closing():
            return
        if self.in_head or not self.came_on:
            self.head += len(data)
            if self.head > MOST_HEAD:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
                return
        if self.patience is None:
            self.patience = self.loop.call_later(PATIENCE, self._lose_patience)

    def on_message_begin(self) -> None:
        """Count anew."""
        super().on_message_begin()
        if self.arrived:
            self._be_patient()  # of what came since the last answer
        self.head, self.in_head, self.arrived = 0, True, False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one behind the body could name whom a proxy in front let nobody name."""
        if self.in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Pass a head on that is within bounds."""
        self.head, self.in_head, self.came_on = 0, False, True
        self.refusal = _unfit(self.headers, self.parser.get_http_version())
        most = self.limit_concurrency
        if most is not None and max(len(self.connections), len(self.tasks)) >= most:
            self.refusal = HTTPStatus.SERVICE_UNAVAILABLE
        if self.refusal is not None:
            raise Unfit  # stops the parser, which has the answer below sent
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass a part of a body on."""
        self.head, self.came_on = 0, True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """From here on, the client waits for us."""
        super().on_message_complete()
        self.arrived = True
        self._be_patient()

    def send_400_response(self, msg: str) -> None:
        """Answer what could not be read."""
        self._refuse(self.refusal or HTTPStatus.BAD_REQUEST)

    def _refuse(self, status: HTTPStatus) -> None:
        """End the connection, with a word unless an answer is under way."""
        if self.cycle is None or self.cycle.response_complete:
            document = problem_document(status, kind_of(status), status.description)
            body = json.dumps(document).encode()
            head = (
                f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n"
            )
            if status is HTTPStatus.SERVICE_UNAVAILABLE:
                head += "retry-after: 2\r\n"
            head += "\r\n"
            self.transport.write(head.encode() + body)
        self.transport.close()

    def _lose_patience(self) -> None:
        self.patience = None
        self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _be_patient(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None

    def _make_room(self) -> None:
        """Who opens many keeps nobody out; where none waits, this one is answered 503."""
        waiting = [each for each in self.connections if isinstance(each, Connection) and each.idle]
        oldest = min(waiting, key=lambda each: each.number)
        if oldest is not self:
            self.connections.discard(oldest)
            oldest.transport.abort()


def _unfit(headers: list[tuple[bytes, bytes]], version: str) -> HTTPStatus | None:
    """What to refuse a head with."""
    hosts = 0
    for name, value in headers:
        if len(name) + len(value) > LONGEST_HEADER:
            return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        if name == b"host":
            hosts += 1
    if len(headers) > MOST_HEADERS:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    # Two readers of two hosts may each believe another one.
    return HTTPStatus.BAD_REQUEST if hosts > 1 or (not hosts and version == "1.1") else None
