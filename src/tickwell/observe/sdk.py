"""OpenTelemetry's SDK inside the service, configured by its environment variables."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tickwell.log import events as lines

_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


def start(goodbye: float) -> Callable[[], None]:
    """Send spans in batches; what is returned sends the last ones, for so many seconds at most."""
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return lambda: None  # the application, or opentelemetry-instrument, has set one up
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), "http")
    if not protocol.startswith("http"):
        lines.TRACES_UNAVAILABLE.log(
            reason=f"OTLP is sent by http/protobuf, not {protocol}; name that port of the collector"
        )
        return lambda: None
    provider = TracerProvider(resource=Resource.create(_resource()), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)

    def stop() -> None:
        # A collector that does not answer must not keep the process.
        thread = threading.Thread(target=provider.shutdown, name="tickwell-spans", daemon=True)
        thread.start()
        thread.join(goodbye)

    return stop


def _resource() -> dict[str, str]:
    """The name of the service, unless the environment has one."""
    named = "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return {} if named or os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "tickwell"}
