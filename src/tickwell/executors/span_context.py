"""The span of an attempt in the process of an isolated handler."""

from __future__ import annotations

from tickwell.domain.current import CURRENT_SPAN


def enter_span(traceparent: str | None) -> None:
    """Let spans that the handler makes here be children of its attempt's."""
    CURRENT_SPAN.set(traceparent)
    if traceparent is None:
        return
    try:
        from opentelemetry.context import attach  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415
            TraceContextTextMapPropagator,
        )
    except ImportError:
        return
    attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))
