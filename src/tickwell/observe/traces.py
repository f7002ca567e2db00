"""Whether spans are recorded, and by whom: the application's SDK, or the service's own.

OpenTelemetry is imported only where something has imported it: without an SDK a process pays one
look at `sys.modules` when it starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tickwell.log import events as lines

if TYPE_CHECKING:
    from tickwell.observe.spans import Spans

#: Where spans are sent; the service starts its SDK if one of them is set.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
#: Seconds that spans get to be sent when the service stops.
GOODBYE = 5.0


def find_spans(*, trace_store: bool = False) -> Spans | None:
    """What starts spans here; None: no SDK is set up, so nothing is to be called."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from tickwell.observe.spans import make_spans  # noqa: PLC0415

    return make_spans(trace_store=trace_store)


def current_traceparent() -> str | None:
    """The span under way in this task or thread, as the header `traceparent` has it."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from tickwell.observe.spans import current_span  # noqa: PLC0415

    return current_span()


def current_trace_id() -> str | None:
    """The trace under way in this task or thread: 32 hex digits."""
    traceparent = current_traceparent()
    return None if traceparent is None else traceparent.split("-")[1]


def start_sdk() -> Callable[[], None]:
    """Send spans where the environment says, unless the application does; returns what ends it."""
    environment = os.environ
    is_off = (
        not any(environment.get(name) for name in ENDPOINTS)
        or environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or environment.get("OTEL_TRACES_EXPORTER", "otlp").lower() == "none"
    )
    if is_off:
        return lambda: None
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter.otlp") is None:
        lines.TRACES_UNAVAILABLE.log(reason="install them: pip install 'tickwell[otel]'")
        return lambda: None
    from tickwell.observe.sdk import start  # noqa: PLC0415

    return start(GOODBYE)
