"""Spans by OpenTelemetry's API. Imported only where an SDK records them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import time_ns  # noqa: TID251 - an SDK takes the time of starts by itself
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import context as otel
from opentelemetry import trace
from opentelemetry.trace import Span, SpanContext, SpanKind, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tickwell.domain.current import CURRENT_SPAN, instant
from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.domain.trigger import Cron
from tickwell.ids import span_id, trace_id
from tickwell.log.headline import headline
from tickwell.log.text import one_line
from tickwell.ports.executor import Executor, Sort

_W3C = TraceContextTextMapPropagator()
#: Executions that the span of a plan step or a report links to.
_MOST_LINKS = 100
#: What a worker asks of the store by itself, outside of plan steps, attempts and requests.
_OF_WORKERS = frozenset({"claim", "finish", "beat"})
#: Characters of an error in a span.
_LONGEST_ERROR = 500
_FAILURES = {OutcomeKind.FAILED, OutcomeKind.TIMED_OUT}
#: Trace and span of the attempt that is about to begin.
_WANTED: ContextVar[tuple[int, int] | None] = ContextVar("tickwell_wanted_ids", default=None)

#: Reads the span that requested an execution.
FindTrigger = Callable[[Claim], Awaitable[str | None]]


class ExecutionIds:
    """Ids of our spans: an attempt's are derived from its execution, in whichever process it runs.

    So all attempts of an execution are in one trace, and logs know its id without a span.
    """

    def __init__(self, others: Any) -> None:
        self._others = others

    def generate_trace_id(self) -> int:
        wanted = _WANTED.get()
        return int(self._others.generate_trace_id()) if wanted is None else wanted[0]

    def generate_span_id(self) -> int:
        wanted = _WANTED.get()
        return int(self._others.generate_span_id()) if wanted is None else wanted[1]

    def is_trace_id_random(self) -> bool:
        return _WANTED.get() is None


def make_spans(*, trace_store: bool) -> Spans | None:
    """None: no provider is set, so that all spans would come to nothing."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    tracer = provider.get_tracer("tickwell")
    if isinstance(tracer, trace.NoOpTracer):
        return None
    others = getattr(tracer, "id_generator", None)
    if others is not None and not isinstance(others, ExecutionIds):
        tracer.id_generator = ExecutionIds(others)  # type: ignore[attr-defined]
    return Spans(tracer, derives=others is not None, trace_store=trace_store)


def current_span() -> str | None:
    """The span under way, as the header `traceparent` has it."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get("traceparent")


class Spans:
    """Starts spans of plan steps, attempts, requests and store operations."""

    def __init__(self, tracer: trace.Tracer, *, derives: bool, trace_store: bool) -> None:
        self._tracer = tracer
        #: Whether the tracer takes ids from us; else attempts have a parent that is not recorded.
        self._derives = derives
        self._trace_store = trace_store

    @contextmanager
    def plan_step(self) -> Iterator[_PlanSpan]:
        """Recorded if it fired something, or if its store operations are recorded."""
        span = self._tracer.start_span("plan", otel.Context(), SpanKind.INTERNAL)
        step = _PlanSpan(span)
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield step
        if step.has_fired or self._trace_store:
            span.end()

    def start_attempt(self, claim: Claim) -> Span:
        """The span of an attempt, in the trace of its execution."""
        job = claim.job
        trace_number, span_number = _ids(claim.id, claim.attempt)
        parent = otel.Context()
        if not self._derives:
            root = _context(claim.id, 0)
            parent = trace.set_span_in_context(trace.NonRecordingSpan(root), parent)
        token = _WANTED.set((trace_number, span_number))
        try:
            return self._tracer.start_span(
                f"run {job.name}", parent, SpanKind.CONSUMER, _attributes(claim)
            )
        finally:
            _WANTED.reset(token)

    @contextmanager
    def request(self, method: str, url: str) -> Iterator[_RequestSpan]:
        """An outgoing request; without what logs in, and without the query."""
        parts = urlsplit(url)
        attributes: dict[str, str | int] = {
            "http.request.method": method,
            "server.address": parts.hostname or "",
            "url.full": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}",
        }
        port = _port(parts.scheme, parts.netloc)
        if port is not None:
            attributes["server.port"] = port
        with self._current(method, None, SpanKind.CLIENT, attributes) as span:
            yield _RequestSpan(span)

    @contextmanager
    def serve(self, method: str, headers: Mapping[str, str]) -> Iterator[Span]:
        """A request to the API, as a child of the caller's span."""
        parent = _W3C.extract(headers, otel.get_current())
        attributes = {"http.request.method": method}
        with self._current(method, parent, SpanKind.SERVER, attributes) as span:
            yield span

    @contextmanager
    def store_operation(self, operation: str, arguments: Sequence[Any] = ()) -> Iterator[None]:
        """A call to the store as part of what is recorded, or of a worker on its own."""
        parent = None
        links: list[trace.Link] = []
        if not trace.get_current_span().is_recording():
            if operation not in _OF_WORKERS:
                yield
                return
            parent = otel.Context()
        if operation == "finish":
            claims = (report.claim for report in arguments[0][:_MOST_LINKS])
            links = [trace.Link(_context(claim.id, claim.attempt)) for claim in claims]
        attributes = {"db.operation.name": operation}
        name = f"store {operation}"
        with self._current(name, parent, SpanKind.CLIENT, attributes, links):
            yield

    @contextmanager
    def _current(
        self,
        name: str,
        parent: otel.Context | None,
        kind: SpanKind,
        attributes: Mapping[str, str | int],
        links: Sequence[trace.Link] = (),
    ) -> Iterator[Span]:
        """A span that is current meanwhile. Of an error it has the class, not the text."""
        with self._tracer.start_as_current_span(
            name,
            parent,
            kind,
            dict(attributes),
            links,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise


class _PlanSpan:
    def __init__(self, span: Span) -> None:
        self._span = span
        self.has_fired = False

    def fired(self, executions: int, skipped: int, ids: Sequence[str]) -> None:
        self.has_fired = True
        self._span.set_attribute("tickwell.executions", executions)
        self._span.set_attribute("tickwell.skipped", skipped)
        for id in ids[:_MOST_LINKS]:
            self._span.add_link(_context(id, 1))


class _RequestSpan:
    def __init__(self, span: Span) -> None:
        self._span = span

    def headers(self) -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, trace.set_span_in_context(self._span))
        return carrier

    def answered(self, status: int) -> None:
        self._span.set_attribute("http.response.status_code", status)
        if status >= 400:
            self._span.set_attribute("error.type", str(status))
            self._span.set_status(StatusCode.ERROR)


class TracedExecutor:
    """An executor whose attempts are spans, current while their targets run."""

    def __init__(self, executor: Executor, spans: Spans, find_trigger: FindTrigger) -> None:
        self.executor = executor
        self._spans = spans
        self._find_trigger = find_trigger

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        return self.executor.abilities()

    async def close(self) -> None:
        await self.executor.close()

    async def refusal(self, job: Job) -> str:
        return await self.executor.refusal(job)

    def prepare(self, job: Job) -> None:
        self.executor.prepare(job)

    async def run(self, claim: Claim) -> Outcome:
        span = self._spans.start_attempt(claim)
        token = otel.attach(trace.set_span_in_context(span))
        CURRENT_SPAN.set(current_span())
        linking = None
        if claim.kind is Kind.REQUEST and span.is_recording():
            # Read while the target runs: the start of an attempt waits for nothing.
            linking = asyncio.create_task(self._link(claim, span))
        try:
            outcome = await self.executor.run(claim)
        except asyncio.CancelledError:
            span.set_attribute("tickwell.outcome", "interrupted")
            raise
        except Exception as error:
            span.set_status(StatusCode.ERROR, _shown(str(error)))
            raise
        else:
            _describe(span, outcome)
            return outcome
        finally:
            otel.detach(token)
            _end(span, linking)

    async def _link(self, claim: Claim, span: Span) -> None:
        traceparent = await self._find_trigger(claim)
        if traceparent is None:
            return
        context = _W3C.extract({"traceparent": traceparent}, otel.Context())
        found = trace.get_current_span(context).get_span_context()
        if found.is_valid:
            span.add_link(found, {"tickwell.link": "trigger"})


def _end(span: Span, linking: asyncio.Task[None] | None) -> None:
    """End it now; one that waits for its link is handed on afterwards, with this instant."""
    if linking is None or linking.done():
        span.end()
        return
    ended_at = time_ns()  # of the wall, as the SDK takes the start
    linking.add_done_callback(lambda _: span.end(ended_at))


def _attributes(claim: Claim) -> dict[str, str | int]:
    job, is_fire = claim.job, claim.kind is Kind.FIRE
    attributes: dict[str, str | int] = {
        "messaging.system": "tickwell",
        "messaging.operation.type": "process",
        "messaging.operation.name": "run",
        "messaging.message.id": claim.id,
        "messaging.destination.name": job.queue,
        "messaging.client.id": claim.worker,
        "faas.trigger": "timer" if is_fire else "other",
        "tickwell.job": job.name,
        "tickwell.job.id": job.id,
        "tickwell.project": job.project,
        "tickwell.attempt": claim.attempt,
        "tickwell.fire_time": instant(claim.fire_time),
    }
    if is_fire:
        attributes["faas.time"] = instant(claim.fire_time)
    if isinstance(job.trigger, Cron):
        attributes["faas.cron"] = job.trigger.expr
    return attributes


def _describe(span: Span, outcome: Outcome) -> None:
    if not span.is_recording():
        return
    span.set_attribute("tickwell.outcome", outcome.kind.value)
    if outcome.kind in _FAILURES:
        cause = headline(outcome.error or "")
        span.set_attribute("error.type", outcome.kind.value)
        span.set_status(StatusCode.ERROR, _shown(cause))


def _shown(error: str) -> str:
    return one_line(error)[:_LONGEST_ERROR]


def _ids(execution: str, attempt: int) -> tuple[int, int]:
    return int(trace_id(execution), 16), int(span_id(execution, attempt), 16)


def _context(execution: str, attempt: int) -> SpanContext:
    trace_number, span_number = _ids(execution, attempt)
    flags = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(trace_number, span_number, is_remote=True, trace_flags=flags)


def _port(scheme: str, authority: str) -> int | None:
    digits = authority.rpartition("@")[2].rpartition(":")[2]
    if digits.isascii() and digits.isdigit():
        return int(digits)
    return {"https": 443, "http": 80}.get(scheme)
