"""A collector of spans and a target of webhooks: an HTTP server of the test's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """What was received."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.arrived: Queue[Any] = Queue()
        self.spans: dict[str, list[Any]] = {}
        self.services: set[str] = set()
        #: Of each webhook.
        self.headers: list[dict[str, str]] = []

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for attribute in resource.resource.attributes:
                if attribute.key == "service.name":
                    self.services.add(attribute.value.string_value)
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.arrived.put(span)

    def wait_for(self, name: str, *, timeout: float, where: Any = lambda _: True) -> Any:
        """A span of this name."""
        while True:
            for span in self.spans.get(name, []):
                if where(span):
                    return span
            span = self.arrived.get(timeout=timeout)
            self.spans.setdefault(span.name, []).append(span)


@contextmanager
def collecting() -> Iterator[Collector]:
    """Listen on a free port: spans at /v1/traces, webhooks elsewhere."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            if self.path == "/v1/traces":
                collector.take(body)
            else:
                collector.headers.append({key.lower(): self.headers[key] for key in self.headers})
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def attributes_of(span: Any) -> dict[str, Any]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}
