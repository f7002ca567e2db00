"""Real web applications under real servers: views of both kinds ask for runs; each runs once."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.library.web import jobs
from tests.processes.child import PATIENCE, until
from tests.processes.start import ROOT
from tests.servers.schemas import empty, url

#: Requests of each test, half of them to sync views.
REQUESTS = 24
HERE = "tests.library.web"
#: Their supervisors kill a worker that is silent for 5 and 30 seconds, as on a busy machine.
UVICORN = ("uvicorn", "--log-level", "warning", "--timeout-worker-healthcheck", "300", "--fd")
PATIENT = ("--timeout", "300", "--graceful-timeout", "60")
GUNICORN = ("gunicorn", "--log-level", "warning", *PATIENT, "--bind")
HOOKS = ("--config", f"python:{HERE}.gunicorn_hooks")


@contextmanager
def serving(command, listener, site):
    """A server process on a socket that listens already: requests wait until it is ready."""
    environment = os.environ | {jobs.STORE: site.store, jobs.JOURNAL: str(site.journal)}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", *command],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)},
        pass_fds=[listener.fileno()],
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()


class Site:
    """A store, a journal beside it, and a port."""

    def __init__(self, folder: Path, store: str | None = None) -> None:
        self.store = store or f"sqlite:///{folder}/jobs.db"
        self.journal = folder / "journal"
        self.journal.touch()
        self.scheduler, _, _ = jobs.scheduler_on(self.store, self.journal)

    def calls(self):
        return sorted(int(line) for line in self.journal.read_text().split())


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    yield site
    site.scheduler.blocking.stop()


@pytest.fixture
def site_on_postgres(tmp_path):
    """Its connections belong to one event loop, and break in any other."""
    asyncio.run(empty("web"))
    site = Site(tmp_path, url("web"))
    yield site
    site.scheduler.blocking.stop()


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock


def ask(listener, number):
    kind = "async" if number % 2 else "sync"
    port = listener.getsockname()[1]
    answer = httpx.get(f"http://127.0.0.1:{port}/{kind}/{number}", timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    return answer.json()


def check(site, listener, command, also=lambda: None):
    """Every request is one execution on record and one call outside it, also after the stop."""
    with serving(command, listener, site) as process, ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda number: ask(listener, number), range(REQUESTS)))
        ids = {answer["id"] for answer in answers}
        assert len(ids) == REQUESTS
        assert {name for each in answers for name in each["jobs"]} == {"mail", "resize"}
        states = {site.scheduler.blocking.wait(id).state for id in ids}
        assert states == {"succeeded"}
        also()
    assert process.returncode in {0, -signal.SIGTERM}  # uvicorn ends by the signal, once drained
    assert site.calls() == list(range(REQUESTS))
    history = [
        each for name in ("mail", "resize") for each in site.scheduler.blocking.executions(job=name)
    ]
    assert {each.id for each in history} == ids
    assert [each.attempt for each in history] == [1] * REQUESTS
    return {answer["pid"] for answer in answers}


@pytest.mark.parametrize("workers", [1, 2])
def test_fastapi_under_uvicorn(site, listener, workers):
    command = [*UVICORN, str(listener.fileno()), f"--workers={workers}", f"{HERE}.fastapi_app:app"]
    assert len(check(site, listener, command)) <= workers


def test_fastapi_under_gunicorn_with_workers_of_uvicorn(site, listener):
    options = ("--worker-class", "uvicorn_worker.UvicornWorker", "--workers=2", "--preload")
    command = [*GUNICORN, f"fd://{listener.fileno()}", *options, f"{HERE}.fastapi_app:app"]
    assert len(check(site, listener, command)) <= 2


def test_one_scrape_of_two_processes_has_what_both_counted(site, listener, tmp_path, monkeypatch):
    (tmp_path / "metrics").mkdir()
    monkeypatch.setenv(jobs.METRICS, str(tmp_path / "metrics"))
    command = [*UVICORN, str(listener.fileno()), "--workers=2", f"{HERE}.fastapi_app:app"]
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/scheduler/metrics/prometheus"

    def scraped():
        text = httpx.get(url, timeout=PATIENCE).text
        pattern = r'^tickwell_executions_total{.*state="succeeded".*} (\S+)'
        found = re.findall(pattern, text, re.MULTILINE)
        return sum(map(float, found))

    def counted():
        # A run is on record a moment before it is counted.
        until(lambda: scraped() == REQUESTS)
        assert {scraped() for _ in range(10)} == {REQUESTS}  # whichever of the two answers

    check(site, listener, command, counted)


def test_fastapi_beside_a_scheduler_that_lives_in_a_thread(site_on_postgres, listener):
    port = listener.getsockname()[1]

    def mounted():
        url = f"http://127.0.0.1:{port}/scheduler"
        with httpx.Client(base_url=url, timeout=PATIENCE) as browser:
            listed = browser.get("/api/v1/jobs").json()["items"]
            assert [each["name"] for each in listed] == ["mail", "resize"]
            assert browser.get("/health").status_code == 200
            assert browser.get("/jobs").status_code == 200
            for change in ("pause", "resume"):
                assert browser.post(f"/api/v1/jobs/mail/{change}").status_code == 200

    command = [*UVICORN, str(listener.fileno()), f"{HERE}.fastapi_app:beside"]
    assert len(check(site_on_postgres, listener, command, mounted)) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_django_by_asgi_under_uvicorn(site, listener, workers):
    site.scheduler.start_in_background()
    command = [*UVICORN, str(listener.fileno()), f"--workers={workers}", f"{HERE}.django_app:asgi"]
    assert len(check(site, listener, command)) <= workers


@pytest.mark.parametrize(
    "options",
    [("--workers=2",), ("--threads=8",), ("--workers=2", "--threads=4", "--preload")],
    ids=" ".join,
)
def test_django_by_wsgi_under_gunicorn(site, listener, options):
    site.scheduler.start_in_background()
    command = [*GUNICORN, f"fd://{listener.fileno()}", *options, f"{HERE}.django_app:wsgi"]
    assert len(check(site, listener, command)) <= 2


@pytest.mark.parametrize(
    "options",
    [("--workers=2",), ("--threads=8",), ("--workers=2", "--threads=4", "--preload")],
    ids=" ".join,
)
def test_flask_under_gunicorn(site, listener, options):
    command = [*GUNICORN, f"fd://{listener.fileno()}", *HOOKS, *options, f"{HERE}.flask_app:app"]
    assert len(check(site, listener, command)) <= 2
