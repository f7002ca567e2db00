"""`/metrics` of real processes: a supervisor shows what its worker processes did."""

import re
import signal
import urllib.request

from tests.cli.test_serve import address, serve  # noqa: F401 - a fixture
from tests.processes.child import PATIENCE, until
from tickwell import Scheduler
from tickwell.cli.serving.service import Service
from tickwell.observe.log_output.output import LogOutput

WORKING = """
import os
from tickwell import Retry, Scheduler

scheduler = Scheduler("sqlite:///jobs.db")

@scheduler.job(retry=Retry(max_attempts=1))
async def work() -> None:
    pass

@scheduler.job(retry=Retry(max_attempts=1, max_losses=1))
async def suicide() -> None:
    os.kill(os.getpid(), 9)
"""


def scrape(url):
    with urllib.request.urlopen(f"{url}/metrics/prometheus", timeout=PATIENCE) as answer:
        return answer.read().decode()


def value(text, name):
    """Of one series."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


SUCCEEDED = 'tickwell_executions_total{queue="default",state="succeeded"}'


def test_a_supervisor_counts_what_its_workers_did_also_those_that_died(serve, tmp_path):  # noqa: F811
    (tmp_path / "jobs.py").write_text(WORKING)
    process = serve(*["--app", "jobs:scheduler", "--workers", "2", "--port", "0", "--no-auth"])
    url = address(process)

    def trigger(name, times):
        for _ in range(times):
            request = urllib.request.Request(f"{url}/api/v1/jobs/{name}/trigger", method="POST")
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                assert answer.status == 202

    trigger("work", 20)
    assert until(lambda: value(scrape(url), SUCCEEDED) == 20)
    trigger("suicide", 1)
    assert until(lambda: value(scrape(url), "tickwell_worker_restarts_total") >= 1)
    assert value(scrape(url), SUCCEEDED) == 20
    trigger("work", 20)
    assert until(lambda: value(scrape(url), SUCCEEDED) == 40)
    lost = 'tickwell_attempts_total{outcome="lost",target="call"}'
    assert until(lambda: value(scrape(url), lost) == 1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_without_a_place_for_its_files_a_supervisor_starts_all_the_same(tmp_path, monkeypatch):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tickwell.cli.serving.service.TemporaryDirectory", full)
    service = Service(
        Scheduler(f"sqlite:///{tmp_path}/jobs.db"),
        roles=frozenset({"planner"}),
        workers=2,
        http=False,
        host="127.0.0.1",
        port=0,
        supervised=False,
        app=None,
        log=LogOutput("json", "info", 2),
    )
    assert service.metrics is not None
    assert service.scheduler.settings.metrics_dir == ""
