"""The log of real services: lines of handlers, libraries and requests, and a pipe that is full."""

import urllib.request
from typing import Any

import pytest

from tests.observe.serving import serving
from tests.processes.child import PATIENCE

APP = """
import logging
import warnings
import structlog
from tickwell import Every, Scheduler

scheduler = Scheduler("sqlite:///jobs.db")
shop = logging.getLogger("shop")

@scheduler.job(Every("100ms"))
async def in_loop() -> None:
    shop.info("from the loop", extra={"order": 5})

@scheduler.job(Every("100ms"))
def in_thread() -> None:
    structlog.get_logger("shop").warning("from the thread", order=6)

@scheduler.job(Every("200ms"), isolation="process")
def in_process() -> None:
    shop.warning("from the process")
"""

FLOOD = """
import logging
from tickwell import Every, Scheduler

scheduler = Scheduler("sqlite:///jobs.db")

@scheduler.job(Every("100ms"))
async def flood() -> None:
    for _ in range(10):
        logging.getLogger("shop").info("x" * 10_000)
    print("tick", flush=True)
"""


THREADED = """
import contextvars
import logging
import threading
from tickwell import Every, Scheduler

scheduler = Scheduler("sqlite:///jobs.db")

@scheduler.job(Every("100ms"))
def begins_a_thread() -> None:
    def work():
        logging.getLogger("shop").warning("from a thread of its own")

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,))
    thread.start()
    thread.join()
"""


def test_a_thread_that_a_handler_starts_logs_with_the_fields_of_the_execution(tmp_path):
    (tmp_path / "jobs.py").write_text(THREADED)
    with serving(tmp_path, "--app", "jobs:scheduler", "--no-http") as service:
        line = service.wait_for("log")
    assert line["message"] == "from a thread of its own"
    assert (line["job"], line["attempt"]) == ("begins_a_thread", 1)
    assert line["execution"]


def test_lines_of_handlers_have_the_fields_of_their_execution(tmp_path):
    (tmp_path / "jobs.py").write_text(APP)
    with serving(tmp_path, "--app", "jobs:scheduler", "--no-http") as service:
        found: dict[str, dict[str, Any]] = {}
        while len(found) < 3:
            line = service.wait_for("log")
            found[line["message"]] = line
    for where in ("loop", "thread", "process"):
        line = found[f"from the {where}"]
        assert line["logger"] == "shop"
        assert line["job"] == f"in_{where}"
        assert (line["attempt"], line["project"], line["queue"]) == (1, "default", "default")
        assert line["execution"]
        assert line["worker"]
        assert len(line["trace_id"]) == 32
    assert (found["from the loop"]["order"], found["from the thread"]["order"]) == (5, 6)
    assert found["from the loop"]["pid"] == service.process.pid
    assert found["from the process"]["pid"] != service.process.pid


@pytest.mark.parametrize(
    ("flag", "environment"),
    [(["--log-runs"], {}), ([], {"TICKWELL_LOG_RUNS": "true"})],
    ids=["flag", "variable"],
)
def test_runs_and_requests_are_lines_on_request(tmp_path, flag, environment):
    (tmp_path / "jobs.py").write_text(APP)
    options = ("--app", "jobs:scheduler", "--port", "0", "--no-auth", "--log-level", "debug")
    with serving(tmp_path, *options, *flag, **environment) as service:
        url = service.wait_for("service_started")["url"]
        triggered = service.wait_for("execution_triggered")
        assert (triggered["level"], triggered["project"]) == ("info", "default")
        service.wait_for("execution_succeeded")
        with urllib.request.urlopen(f"{url}/api/v1/jobs?limit=1", timeout=PATIENCE) as answer:
            assert answer.status == 200
        request = service.wait_for("http_request")
    assert (request["method"], request["path"], request["status"]) == ("GET", "/api/v1/jobs", 200)


def test_a_log_that_nobody_reads_stops_neither_jobs_nor_the_end(tmp_path):
    (tmp_path / "jobs.py").write_text(FLOOD)
    with serving(tmp_path, "--app", "jobs:scheduler", "--no-http") as service:
        assert service.process.stdout is not None
        # Ten times what a pipe holds, and nobody reads it.
        for _ in range(10):
            assert service.process.stdout.readline() == "tick\n"
