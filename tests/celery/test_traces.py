"""Two environment variables are enough for `celery -A tickwell.celery worker`, too."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.celery.crew import QUIET
from tests.observe.collector import attributes_of, collecting
from tests.processes.child import PATIENCE
from tests.processes.jobs import RUN_ALL, job, once
from tests.processes.start import ROOT
from tickwell.clock import wall_millis
from tickwell.domain.http import Http
from tickwell.ids import span_id, trace_id


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_attempts_in_a_celery_worker_are_spans(site, crew, broker, pool):
    crew.planner()
    with collecting() as collector:
        now = wall_millis()
        hook = job("hook", "count", once(now), now, misfire=RUN_ALL)
        site.add(replace(hook, target=Http(f"{collector.address}/hook")), fires={"hook": [now]})
        environment = os.environ | {
            "TICKWELL_STORE": site.store,
            "TICKWELL_BROKER": broker.url,
            "TICKWELL_ALLOW_HTTP": "true",
            "TICKWELL_ALLOW_PRIVATE": "127.0.0.0/8",
            "TICKWELL_ALLOW_PORTS": "1-65535",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
            "OTEL_SERVICE_NAME": "shop-workers",
        }
        command = [sys.executable, "-m", "celery", "-A", "tickwell.celery", "worker"]
        worker = subprocess.Popen(
            [*command, "-P", pool, "-c", "1", *QUIET], cwd=ROOT, env=environment
        )
        try:
            site.wait_until_quiet(expected=1)
            worker.terminate()  # sends the spans that wait in the batch
            assert worker.wait(PATIENCE) == 0
        finally:
            worker.kill()
            worker.wait()
        span = collector.wait_for("run hook", timeout=PATIENCE)
        id = attributes_of(span)["messaging.message.id"]
        assert (span.trace_id.hex(), span.span_id.hex()) == (trace_id(id), span_id(id, 1))
        sent = collector.wait_for("POST", timeout=PATIENCE)
        assert sent.parent_span_id == span.span_id
        assert collector.services == {"shop-workers"}
