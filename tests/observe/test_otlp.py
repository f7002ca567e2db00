"""`tickwell serve` and two environment variables: a trace arrives at a collector."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.observe.collector import attributes_of, collecting
from tests.processes.child import PATIENCE
from tickwell.ids import span_id, trace_id

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def post(url, body, **headers):
    headers["content-type"] = "application/json"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


def test_two_variables_send_traces_to_a_collector(tmp_path):
    with collecting() as collector:
        environment = os.environ | {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address,
            "OTEL_SERVICE_NAME": "shop-jobs",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "tickwell", "serve", "--port=0", "--no-auth", "--allow-local"],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            urls = (re.search(r'"url":"([^"]+)"', line) for line in process.stderr)
            api = next(found[1] for found in urls if found)
            check_tree(collector, f"{api}/api/v1")
        finally:
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        assert collector.services == {"shop-jobs"}


def check_tree(collector, api):
    target = {"http": {"url": f"{collector.address}/hook?token=abc"}}
    for name, trigger in (("tick", {"cron": "* * * * * *"}), ("report", {"on_demand": True})):
        post(f"{api}/jobs", {"name": name, "trigger": trigger, "target": target})
    run = post(f"{api}/jobs/report/trigger", {}, traceparent=CALLER)

    fired = collector.wait_for("run tick", timeout=PATIENCE)
    plan = collector.wait_for(
        "plan",
        timeout=PATIENCE,
        where=lambda plan: fired.span_id in {link.span_id for link in plan.links},
    )
    assert attributes_of(plan)["tickwell.executions"] >= 1
    assert fired.kind == Span.SPAN_KIND_CONSUMER
    assert fired.parent_span_id == b""
    told = attributes_of(fired)
    assert (told["faas.trigger"], told["faas.cron"]) == ("timer", "* * * * * *")
    id = told["messaging.message.id"]
    assert (fired.trace_id.hex(), fired.span_id.hex()) == (trace_id(id), span_id(id, 1))

    sent = collector.wait_for(
        "POST", timeout=PATIENCE, where=lambda span: span.parent_span_id == fired.span_id
    )
    assert (sent.kind, sent.trace_id) == (Span.SPAN_KIND_CLIENT, fired.trace_id)
    assert attributes_of(sent)["url.full"] == f"{collector.address}/hook"
    (headers,) = [each for each in collector.headers if each["webhook-id"] == id]
    assert headers["traceparent"] == f"00-{sent.trace_id.hex()}-{sent.span_id.hex()}-01"

    requested = collector.wait_for("run report", timeout=PATIENCE)
    (link,) = requested.links
    request = collector.wait_for(
        "POST /api/v1/jobs/{key}/trigger",
        timeout=PATIENCE,
        where=lambda span: span.span_id == link.span_id,
    )
    assert requested.trace_id.hex() == trace_id(run["id"])
    assert request.trace_id.hex() == CALLER.split("-")[1]
    assert request.parent_span_id.hex() == CALLER.split("-")[2]
