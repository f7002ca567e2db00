"""Health of real processes: planners killed, workers stopped, queues paused, servers away."""

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from functools import partial

import pytest

from tests.processes.child import PATIENCE, until
from tests.processes.start import run, start
from tests.servers import redis

APP = """
from tickwell import Every, Scheduler

scheduler = Scheduler("sqlite:///jobs.db")

@scheduler.job(Every("300ms"))
async def tick() -> None:
    pass
"""
#: A process that was killed is found by the next sweep of another one on the host. Beats are as in
#: production: with short ones a busy machine looks as if a live process were gone.
QUICK = {
    "TICKWELL_SWEEP": "500ms",
    "TICKWELL_LOG_FORMAT": "console",
}


#: By the rank that the metric has.
LEVELS = ("green", "amber", "red")


class Site:
    """A folder with processes of a service in it."""

    def __init__(self, folder, **environment):
        self.folder = folder
        self.environment = os.environ | QUICK | environment
        self.processes = []
        #: Where the last process listens that was started.
        self.url = ""
        (folder / "jobs.py").write_text(APP)

    def start(self, *arguments):
        process = start(
            *("tickwell", "serve", *arguments),
            cwd=self.folder,
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        lines = []
        for line in process.stderr or ():
            lines.append(line)
            if "/health reports" in line:
                self.url = line.split()[0].removesuffix("/health")
            if "Ctrl-C" in line:
                return process
        raise AssertionError("".join(lines))

    def tickwell(self, *arguments):
        return run("tickwell", *arguments, cwd=self.folder, env=self.environment)

    def doctor(self):
        """The exit code, and the findings by their check."""
        done = self.tickwell("doctor", "--json")
        return done.returncode, {each["check"]: each for each in json.loads(done.stdout)["items"]}

    def close(self):
        for process in self.processes:
            process.kill()
            process.communicate()


@pytest.fixture
def site(tmp_path):
    made = []

    def make(**environment):
        made.append(Site(tmp_path, **environment))
        return made[-1]

    yield make
    for each in made:
        each.close()


def ask(url, key=None):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def findings(url, key=None):
    body = json.loads(ask(f"{url}/health/detailed", key)[1])
    return {each["check"]: each for each in body["findings"]}


def level_of(url, check):
    return findings(url).get(check, {}).get("level")


def everywhere(url, check):
    """The levels that the HTTP faces of a process give a check."""
    checkup = json.loads(ask(f"{url}/api/v1/checkup")[1])["items"]
    return {
        level_of(url, check),
        metric_of(url, check),
        *(each["level"] for each in checkup if each["check"] == check),
    }


def is_everywhere(url, check, level):
    return everywhere(url, check) == {level}


def row_of(page, id):
    """The row of a process on the page of workers."""
    return page.partition(f'id="{id}"')[2].partition("</tr>")[0]


def metric_of(url, check):
    [rank] = re.findall(
        rf'^tickwell_health{{check="{check}"}} (\d)',
        ask(f"{url}/metrics/prometheus")[1],
        re.MULTILINE,
    ) or [None]
    return None if rank is None else LEVELS[int(rank)]


def test_what_is_missing_is_told_everywhere(site):
    here = site(TICKWELL_APP="jobs:scheduler", TICKWELL_STORE="sqlite:///jobs.db")
    here.start("--role", "api", "--no-auth", "--port", "0")
    url = here.url
    planner = here.start("--role", "planner", "--no-http")
    worker = here.start("--role", "worker", "--no-http")
    until(lambda: json.loads(ask(f"{url}/health/detailed")[1])["level"] == "green", what="green")
    assert json.loads(ask(f"{url}/health")[1])["status"] == "healthy"
    for check in ("store", "planner", "workers", "clock"):
        until(partial(is_everywhere, url, check, "green"), what=check)
    assert "Everything is healthy." in ask(f"{url}/")[1]

    items = json.loads(ask(f"{url}/api/v1/workers")[1])["items"]
    roles = {each["pid"]: each["roles"] for each in items}
    assert roles[planner.pid] == ["planner"]
    assert roles[worker.pid] == ["worker"]
    assert sorted(map(tuple, roles.values())) == [("api",), ("planner",), ("worker",)]
    [capacity] = [each["capacity"] for each in items if each["pid"] == worker.pid]
    assert capacity > 0
    assert all(each["version"] for each in items)
    page = ask(f"{url}/workers")[1]
    for each in items:
        text = row_of(page, each["id"])
        row = dict(re.findall(r'<td data-label="([^"]+)"[^>]*>(.*?)</td>', text))
        assert ", ".join(each["roles"]) in text
        assert (row["Host"], row["PID"]) == (each["host"], str(each["pid"]))
        assert row["Version"] == each["version"]
        assert (", ".join(each["queues"]) or "–") == row["Queues"]  # noqa: RUF001
        if each["roles"] == ["worker"]:
            assert re.fullmatch(rf"\d+ of {capacity}", row["Busy"])
        assert "<time" in row["Last beat"]

    here.tickwell("queues", "pause", "default")
    until(lambda: is_everywhere(url, "paused_queues", "amber"), what="a paused queue")
    assert "Queue default is paused" in ask(f"{url}/")[1]
    assert here.doctor()[0] == 0
    here.tickwell("queues", "resume", "default")

    planner.kill()
    worker.send_signal(signal.SIGTERM)
    until(lambda: is_everywhere(url, "planner", "red"), what="no planner")
    until(lambda: is_everywhere(url, "workers", "red"), what="no worker")
    status, body = ask(f"{url}/health/detailed")
    assert (status, json.loads(body)["scheduler_service"]) == (503, "stopped")
    # A load balancer goes on sending requests to an API that can answer them.
    status, body = ask(f"{url}/readyz")
    assert (status, json.loads(body)["level"]) == (200, "red")
    page = ask(f"{url}/")[1]
    assert "No planner is alive" in page
    assert "No worker is alive" in page
    assert "overdue for" in page
    code, told = here.doctor()
    assert (code, told["planner"]["level"], told["workers"]["level"]) == (1, "red", "red")
    assert told["planner"]["remedy"] == "Start one: tickwell serve --role planner"


def test_servers_that_are_away_are_told_also_to_a_request_with_a_key(site):
    store, notify = redis.start(), redis.start()
    here = site(TICKWELL_STORE=store.url, TICKWELL_NOTIFY=notify.url)
    here.start("--port", "0")
    url = here.url
    key = json.loads(here.tickwell("keys", "add", "probe", "--json").stdout)["key"]
    until(lambda: json.loads(ask(f"{url}/health/detailed", key)[1])["level"] == "green")
    assert ask(f"{url}/health/detailed")[0] == 401

    notify.kill()
    until(lambda: findings(url, key)["redis"]["level"] == "amber", what="Redis away")
    until(lambda: metric_of(url, "redis") == "amber", what="Redis away in metrics")
    assert str(notify.port) not in ask(f"{url}/health/detailed", key)[1]
    assert here.doctor()[1]["redis"]["level"] == "amber"
    notify.run()
    until(lambda: findings(url, key)["redis"]["level"] == "green", what="Redis back")

    store.kill()
    until(lambda: "disconnected" in ask(f"{url}/health/detailed", key)[1], what="no store")
    until(lambda: metric_of(url, "store") == "red", what="no store in metrics")
    status, body = ask(f"{url}/health/detailed", key)
    told = json.loads(body)
    assert (status, told["status"], told["database"]) == (503, "unhealthy", "disconnected")
    assert ask(f"{url}/readyz")[0] == 503
    assert (told["redis"], told["scheduler_service"]) == ("disconnected", "failing")
    assert str(store.port) not in body
    assert ask(f"{url}/healthz")[0] == 200
    code, told = here.doctor()
    assert (code, told["store"]["level"], told["redis"]["level"]) == (1, "red", "green")


def test_a_broker_that_is_away_is_told_by_doctor_as_by_health(site):
    broker = redis.start()
    here = site(TICKWELL_ENGINE="celery", TICKWELL_BROKER=broker.url)
    here.start("--role", "api,planner", "--no-auth", "--port", "0")
    url = here.url
    assert here.doctor()[1]["broker"]["level"] == level_of(url, "broker") == "green"
    broker.kill()
    until(lambda: level_of(url, "broker") == "red", what="no broker")
    code, told = here.doctor()
    assert (code, told["broker"]["level"]) == (1, "red")
    assert told["broker"]["remedy"] == findings(url)["broker"]["remedy"]
    assert "Celery workers are not told what is due" in ask(f"{url}/")[1]
