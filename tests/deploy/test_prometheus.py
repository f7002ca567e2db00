"""What is shipped for Prometheus and Grafana, with a real Prometheus and two real processes."""

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.processes.start import start
from tests.servers import prometheus, redis
from tickwell.clock import wall_millis
from tickwell.domain.http import Http
from tickwell.domain.job import Entry
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import HOUR, MINUTE
from tickwell.domain.trigger import Every, OnDemand
from tickwell.testing.contract.builders import a_job, a_request
from tickwell.wiring import make_store

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
RULES = DEPLOY / "prometheus" / "tickwell.rules.yml"
DASHBOARD = json.loads((DEPLOY / "grafana" / "tickwell.json").read_text())
CONFIG = """
global: {scrape_interval: 250ms, evaluation_interval: 250ms}
rule_files: [tickwell.rules.yml]
scrape_configs:
  - job_name: tickwell
    file_sd_configs: [{files: [targets.json], refresh_interval: 250ms}]
"""
APP = """
from tickwell import Retry, Scheduler

scheduler = Scheduler()

@scheduler.job(retry=Retry(max_attempts=1))
async def fails() -> None:
    raise ValueError("on purpose")
"""
#: Counters of what happens only once the store is away.
OF_OUTAGES = ("tickwell_store_errors_total", "tickwell_step_failures_total")


def promtool(*arguments):
    command = [prometheus.binary("promtool"), *arguments]
    done = subprocess.run(command, cwd=RULES.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_accepts_the_rules_and_the_configuration():
    promtool("check", "rules", RULES.name)
    promtool("check", "config", "prometheus.yml")


def test_each_alert_fires_when_it_should_and_not_when_all_is_well():
    promtool("test", "rules", "tickwell.test.yml")
    tested = (RULES.parent / "tickwell.test.yml").read_text()
    for name in alert_names():
        assert re.search(rf"alertname: {name}\s+exp_alerts", tested), name


def alert_names():
    return set(re.findall(r"alert: (\w+)", RULES.read_text()))


def queries():
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            text = target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m")
            yield panel["title"], text


class Site:
    """A store with everything wrong in it, an API without engine, a worker, and later a planner."""

    def __init__(self, folder):
        self.folder = folder
        self.redis = redis.start()
        self.children = []
        self.store = make_store(self.redis.url)

    def serve(self, *arguments):
        """Start a process; where it listens."""
        child = start(
            *("tickwell", "serve", "--port", "0", *arguments),
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "TICKWELL_METRICS_TTL": "100ms"},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.children.append(child)
        assert child.stderr is not None
        for line in child.stderr:
            if found := re.search(r"http://(\S+)/health", line):
                return child, found[1]
        raise AssertionError("it ended without saying where it listens")

    async def fill(self):
        await self.store.open()
        now = wall_millis()
        stuck = a_job("stuck", trigger=OnDemand(), queue="slow")
        missed = a_job("missed", trigger=Every("1s"), created_at=now - HOUR, saved_at=now - HOUR)
        entries = [
            Entry(stuck, first_cursor(stuck, now)),
            Entry(missed, first_cursor(missed, now - MINUTE)),
        ]
        await self.store.add_jobs(entries, now)
        runs = [a_request(stuck, now - MINUTE) for _ in range(101)]
        await self.store.add_executions(runs, now, 0)

    def scrape(self, *targets):
        """From now on Prometheus asks these."""
        written = self.folder / "targets.new"
        written.write_text(json.dumps([{"targets": targets}]))
        written.rename(self.folder / "targets.json")

    async def add_webhook(self, url):
        now = wall_millis()
        job = a_job("hook", trigger=OnDemand(), target=Http(url, method="GET"))
        await self.store.add_jobs([Entry(job, first_cursor(job, now))], now)

    async def fail_again(self):
        """Five runs that fail and one of a webhook, a minute late."""
        now = wall_millis()
        failing, hook = await self.store.get_jobs("default", ["fails", "hook"])
        runs = [a_request(failing.job, now - MINUTE) for _ in range(5)]
        runs.append(a_request(hook.job, now - MINUTE))
        await self.store.add_executions(runs, now, 0)
        await self.store.promote(now, 0, 100)

    async def close(self):
        for child in self.children:
            child.kill()
            child.communicate()
        await self.store.close()


@pytest.fixture
async def site(tmp_path):
    (tmp_path / "jobs.py").write_text(APP)
    made = Site(tmp_path)
    yield made
    await made.close()


async def seen(server, wanted, meanwhile=None):
    """Wait until these alerts have fired."""
    found: set[str] = set()

    while not wanted <= found:  # the time limit of the test ends it
        if meanwhile is not None:
            await meanwhile()
        await asyncio.sleep(0.25)  # Prometheus tells nobody
        found.update(server.firing())


async def answered(server, wanted):
    """Wait until each of these queries has had an answer."""
    left = list(wanted)
    while left:
        left = [each for each in left if not server.get("query", query=each[1])["result"]]
        await asyncio.sleep(0.25)


async def test_a_real_prometheus_scrapes_two_processes_and_fires_each_alert(site, tmp_path):
    await site.fill()
    store = ("--store", site.redis.url)
    _, api = site.serve("--role", "api", "--no-auth", *store)
    work = ("--role", "worker", "--app", "jobs:scheduler", "--allow-local")
    worker, other = site.serve(*work, *store)
    await site.add_webhook(f"http://{api}/healthz")
    site.scrape(api, other)
    # As shipped, but for the time that a state has to last.
    rules = re.sub(r"for: \d+m", "for: 0s", RULES.read_text())
    (tmp_path / RULES.name).write_text(rules)
    server = prometheus.start(tmp_path, CONFIG)
    try:
        at_work = {
            *("TickwellHighFailureRate", "TickwellLate", "TickwellDeadLettersGrowing"),
            *("TickwellNoPlanner", "TickwellQueueBuildup", "TickwellSlotsUnanswered"),
        }
        await seen(server, at_work, site.fail_again)
        ups = server.get("query", query="up")["result"]
        assert [each["value"][1] for each in ups] == ["1", "1"]
        _, planner = site.serve("--role", "planner", *store)
        site.scrape(api, other, planner)
        asked: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
        for each in queries():
            asked[any(name in each[1] for name in OF_OUTAGES)].append(each)
        await answered(server, asked[False])
        worker.terminate()
        await seen(server, {"TickwellWorkersMissing"})
        site.redis.kill()
        await seen(server, {"TickwellStoreUnreachable"})
        await answered(server, asked[True])
        rest = {"TickwellWorkersMissing", "TickwellStoreUnreachable"}
        assert at_work | rest == alert_names()
    finally:
        server.process.kill()
        server.process.wait()
