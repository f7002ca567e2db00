"""A receiver of webhooks on the loopback, which records requests and answers as configured."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tickwell.errors import InvalidInput

#: What ends a request; a code below would keep its sender waiting.
_STATUSES = range(200, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request."""

    method: str
    path: str
    #: By their names in small letters.
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)

    @property
    def id(self) -> str | None:
        """The execution's id, the same for all attempts."""
        return self.headers.get("webhook-id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a request is answered with."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] | None = None


class Receiver:
    """An HTTP server in a thread of its own, for as long as a `with` block."""

    def __init__(self) -> None:
        #: All requests so far, oldest first.
        self.requests: list[Received] = []
        self._answers: list[Answer] = [Answer()]
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True

    def url(self, path: str = "/") -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"

    def answer(self, *answers: int | Answer) -> None:
        """What the next requests are answered with: codes or answers; the last goes for all."""
        told = [_answer(each) for each in answers] or [Answer()]
        with self._lock:
            self._answers = told

    def receive(self, request: Received) -> Answer:
        """Keep a request; say what to answer."""
        with self._lock:
            self.requests.append(request)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            name="tickwell-receiver",
            daemon=True,
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _answer(raw: object) -> Answer:
    answer = Answer(status=raw) if isinstance(raw, int) else raw
    if not isinstance(answer, Answer) or answer.status not in _STATUSES:
        raise InvalidInput(
            f"{raw!r} is nothing to answer with",
            field="answer",
            hint="Give codes from 200 to 599, or Answer(status=503, body=b'…')",
        )
    return answer


def _handler_of(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = receiver.receive(
                Received(method=self.command, path=self.path, headers=headers, body=body)
            )
            self.send_response(answer.status)
            for name, value in (answer.headers or {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the base's names

        def log_message(self, *_: object) -> None:
            """Say nothing: what came is in `requests`."""

    return Handler
