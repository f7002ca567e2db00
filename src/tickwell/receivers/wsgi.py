"""A receiver for WSGI apps: Flask, Django, Bottle, or none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from io import BytesIO
from typing import Any

from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.receivers.asgi import LARGEST_BODY
from tickwell.receivers.memory import MemorySeen, Seen, Verdict
from tickwell.receivers.verify import TOLERANCE, Delivery, Rejected, read_secrets, verify_by

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
App = Callable[[Environ, StartResponse], Iterable[bytes]]

_LENGTH = re.compile(r"[0-9]{1,12}")


class WsgiReceiver:
    """Calls the app once for each webhook, with the `Delivery` in `environ["tickwell"]`."""

    def __init__(
        self,
        app: App,
        secrets: str | Sequence[str],
        *,
        seen: Seen | None = None,
        tolerance: Duration = TOLERANCE,
        largest_body: int = LARGEST_BODY,
    ) -> None:
        self.app = app
        self._keys = read_secrets(secrets)
        self._seen: Seen = MemorySeen() if seen is None else seen
        self._tolerance = parse_duration(tolerance, field="tolerance")
        self._largest = largest_body

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """One request."""
        length = _length(environ)
        if length is None or length > self._largest:
            return _answer(start_response, 413, "the body is too large")
        body = environ["wsgi.input"].read(length)
        headers = {
            name.removeprefix("HTTP_").replace("_", "-"): value
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        try:
            delivery = verify_by(self._keys, body, headers, tolerance=self._tolerance)
        except Rejected as error:
            return _answer(start_response, error.status, str(error))
        verdict = self._seen.begin(delivery)
        if verdict is not Verdict.NEW:
            return _answer(start_response, verdict.value, verdict.name.lower())
        return self._take(
            delivery,
            environ | {"tickwell": delivery, "wsgi.input": BytesIO(body)},
            start_response,
        )

    def _take(
        self, delivery: Delivery, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        taking = _Taking(self._seen, delivery, start_response)
        try:
            taking.parts = self.app(environ, taking.start)
        except BaseException:
            taking.close()
            raise
        return taking


class _Taking:
    """An answer under way: the webhook took effect when all of it is said, and not before."""

    def __init__(self, seen: Seen, delivery: Delivery, start_response: StartResponse) -> None:
        self.parts: Iterable[bytes] = ()
        self._seen = seen
        self._delivery = delivery
        self._start_response = start_response
        self._status = ""
        self._done = self._ended = False

    def start(self, status: str, *rest: Any) -> Any:
        """In place of `start_response`."""
        self._status = status
        return self._start_response(status, *rest)

    def __iter__(self) -> Iterator[bytes]:
        yield from self.parts
        self._done = self._status.startswith("2")

    def close(self) -> None:
        """Called by every server, whether the answer got through or not."""
        if self._ended:
            return
        self._ended = True
        self._seen.end(self._delivery, done=self._done)
        close = getattr(self.parts, "close", None)
        if close is not None:
            close()


def _length(environ: Environ) -> int | None:
    """Bytes of the body; servers hand on what the sender wrote, which may be no number."""
    length = environ.get("CONTENT_LENGTH") or "0"
    return int(length) if _LENGTH.fullmatch(length) else None


def _answer(start_response: StartResponse, status: int, text: str) -> list[bytes]:
    body = text.encode()
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    start_response(f"{status} {HTTPStatus(status).phrase}", headers)
    return [body]
