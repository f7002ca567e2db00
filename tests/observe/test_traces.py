"""Spans in a process whose application records them."""

import asyncio
import threading

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

from tests.executors.isolated import traced_span
from tests.ui.house import House
from tickwell import Cron, Retry, Scheduler, Settings
from tickwell.declared.internals import internals
from tickwell.events import AttemptsFinished
from tickwell.ids import span_id, trace_id
from tickwell.observe.traces import current_trace_id, find_spans


@pytest.fixture
def exporter(monkeypatch):
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


async def run(scheduler, name, **options):
    """Trigger a job and wait for the end of the execution."""
    ended = asyncio.Event()

    def hear(event):
        if isinstance(event, AttemptsFinished):
            ended.set()

    scheduler.subscribe(hear)
    async with scheduler:
        execution = await internals(scheduler).executions.trigger("default", name, **options)
        while True:
            found = await internals(scheduler).executions.get("default", execution.id)
            if found.state in {"succeeded", "dead"}:
                return found
            ended.clear()
            await ended.wait()


async def _nothing() -> None: ...


def spans_of(exporter, kind):
    return [span for span in exporter.get_finished_spans() if span.kind is kind]


@pytest.mark.parametrize("sort", ["async", "thread", "process"])
async def test_an_attempt_is_a_span_and_current_in_its_handler(exporter, sort):
    scheduler = Scheduler("memory://")

    if sort == "async":

        @scheduler.job(name="report")
        async def report() -> str | None:
            return current_trace_id()

    elif sort == "thread":

        @scheduler.job(name="report")
        def report_in_thread() -> str | None:
            assert threading.current_thread() is not threading.main_thread()
            return current_trace_id()

    else:
        scheduler.job(name="report", isolation="process")(traced_span)
    execution = await run(scheduler, "report")
    (span,) = spans_of(exporter, SpanKind.CONSUMER)
    assert execution.result == f"{span.context.trace_id:032x}" == trace_id(execution.id)
    assert f"{span.context.span_id:016x}" == span_id(execution.id, 1)
    assert span.parent is None
    assert span.name == "run report"
    assert (
        dict(span.attributes).items()
        >= {
            "messaging.system": "tickwell",
            "messaging.operation.type": "process",
            "messaging.message.id": execution.id,
            "messaging.destination.name": "default",
            "faas.trigger": "other",
            "tickwell.job": "report",
            "tickwell.attempt": 1,
            "tickwell.outcome": "succeeded",
        }.items()
    )


async def test_attempts_of_an_execution_are_in_one_trace_and_errors_have_no_secrets(exporter):
    scheduler = Scheduler("memory://")

    @scheduler.job(retry=Retry(max_attempts=2, delay="1ms", jitter=0))
    async def report() -> None:
        raise ValueError("password=hunter2 \x9b31m refused")

    execution = await run(scheduler, "report")
    spans = spans_of(exporter, SpanKind.CONSUMER)
    assert {f"{span.context.trace_id:032x}" for span in spans} == {trace_id(execution.id)}
    assert [span.attributes["tickwell.attempt"] for span in spans] == [1, 2]
    for span in spans:
        assert span.status.status_code is StatusCode.ERROR
        assert span.status.description == r"ValueError: password=… \x9b31m refused"
        assert not span.events


async def test_the_span_that_triggered_a_run_is_linked(exporter):
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def report() -> None:
        await asyncio.sleep(0)

    tracer = trace.get_tracer_provider().get_tracer("shop")
    with tracer.start_as_current_span("checkout") as caller:
        await run(scheduler, "report")
    (span,) = spans_of(exporter, SpanKind.CONSUMER)
    (link,) = span.links
    assert link.context.span_id == caller.get_span_context().span_id
    assert link.context.trace_id == caller.get_span_context().trace_id
    assert span.context.trace_id != link.context.trace_id


async def test_a_plan_step_that_fired_is_a_span_with_links_to_its_executions(exporter):
    scheduler, fired = Scheduler("memory://"), asyncio.Event()

    @scheduler.job(Cron("* * * * * *"))
    async def report() -> None:
        fired.set()

    async with scheduler:
        await fired.wait()
    (first, *_) = spans_of(exporter, SpanKind.CONSUMER)
    plans = [span for span in exporter.get_finished_spans() if span.name == "plan"]
    linked = {link.context.span_id for plan in plans for link in plan.links}
    assert first.context.span_id in linked
    assert all(plan.attributes["tickwell.executions"] for plan in plans)
    assert first.attributes["faas.trigger"] == "timer"
    assert first.attributes["faas.cron"] == "* * * * * *"


async def test_what_is_not_sampled_is_not_recorded_but_has_its_context(monkeypatch):
    provider, exporter = TracerProvider(sampler=ALWAYS_OFF), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def report() -> str | None:
        return current_trace_id()

    execution = await run(scheduler, "report")
    assert execution.result == trace_id(execution.id)
    assert exporter.get_finished_spans() == ()


async def test_without_an_sdk_nothing_is_wrapped():
    assert find_spans() is None
    scheduler = Scheduler("memory://")
    async with scheduler:
        engine = internals(scheduler).life.engine
        assert engine is not None
        assert type(engine.executor).__name__ == "Registry"
        assert engine._tracer is None


def test_store_operations_are_spans_inside_of_others(exporter):
    spans = find_spans(trace_store=True)
    assert spans is not None
    factory = spans.store_operation
    with factory("list_jobs"):
        pass
    assert exporter.get_finished_spans() == ()
    tracer = trace.get_tracer_provider().get_tracer("shop")
    with tracer.start_as_current_span("outer") as outer, factory("list_jobs"):
        pass
    span, _ = exporter.get_finished_spans()
    assert (span.name, span.parent.span_id) == ("store list_jobs", outer.get_span_context().span_id)


async def test_what_a_worker_asks_of_the_store_is_recorded_on_request(exporter, tmp_path):
    scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db", settings=Settings(trace_store=True))
    scheduler.job(name="report")(_nothing)
    execution = await run(scheduler, "report")
    spans = exporter.get_finished_spans()
    own = {span.name: span for span in spans if span.name.startswith("store") and not span.parent}
    assert own.keys() == {"store claim", "store finish", "store beat"}
    (link,) = own["store finish"].links
    assert f"{link.context.span_id:016x}" == span_id(execution.id, 1)
    (attempt,) = (span for span in spans if span.kind is SpanKind.CONSUMER)
    assert attempt.context.span_id == link.context.span_id


async def test_no_store_operation_is_recorded_unless_it_is_asked_for(exporter, tmp_path):
    scheduler = Scheduler(f"sqlite:///{tmp_path}/jobs.db")
    scheduler.job(name="report")(_nothing)
    await run(scheduler, "report")
    assert not [span for span in exporter.get_finished_spans() if span.name.startswith("store")]


def test_a_request_that_fails_tells_no_more_than_the_kind_of_its_error(exporter):
    spans = find_spans()
    assert spans is not None
    with pytest.raises(OSError, match="hunter2"), spans.request("GET", "https://a.example/"):
        raise OSError("https://me:hunter2@a.example is not there")
    (made,) = exporter.get_finished_spans()
    assert (made.attributes["error.type"], made.status.description) == ("OSError", None)
    assert made.status.status_code is StatusCode.ERROR
    assert not made.events


def test_a_request_s_span_has_neither_credentials_nor_query(exporter):
    spans = find_spans()
    assert spans is not None
    with spans.request("POST", "https://me:secret@shop.example:8443/hooks?token=abc#x") as span:
        headers = span.headers()
        span.answered(503)
    (made,) = exporter.get_finished_spans()
    assert dict(made.attributes) == {
        "http.request.method": "POST",
        "server.address": "shop.example",
        "server.port": 8443,
        "url.full": "https://shop.example:8443/hooks",
        "http.response.status_code": 503,
        "error.type": "503",
    }
    assert made.status.status_code is StatusCode.ERROR
    assert headers["traceparent"].split("-")[2] == f"{made.context.span_id:016x}"


async def test_pages_make_no_spans(exporter, tmp_path):
    """The web framework would make some of its own, with the query of a login link in them."""
    async with House(tmp_path) as house:
        browser = await house.login()
        for path in ("/", "/jobs?q=x", "/login?link=x", "/nowhere", "/executions?state=odd"):
            await browser.get(path)
    assert exporter.get_finished_spans() == ()
