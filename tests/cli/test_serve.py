"""`tickwell serve` as a person starts it: real processes, real signals."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.processes.child import PATIENCE, until

APP = """
import os
from tickwell import Every, Scheduler

scheduler = Scheduler("sqlite:///jobs.db")

@scheduler.job(Every("200ms"))
async def tick() -> None:
    os.write(1, f"tick {os.getpid()}\\n".encode())  # one write: it may be killed in between
"""


@pytest.fixture
def serve(tmp_path):
    started = []

    def start(*arguments, stderr=subprocess.PIPE):
        process = subprocess.Popen(
            [sys.executable, "-m", "tickwell", "serve", *arguments],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        started.append(process)
        return process

    (tmp_path / "jobs.py").write_text(APP)
    yield start
    for process in started:
        process.kill()
        process.communicate()


def address(process):
    """The URL that the service says it listens on."""
    for line in process.stderr:
        found = re.search(r"(http://\S+)/health", line)
        if found:
            return found[1]
    raise AssertionError("it ended without saying where it listens")


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        is_json = "json" in error.headers["content-type"]
        return error.code, json.load(error) if is_json else None


def test_it_serves_health_and_stops_on_sigterm(serve):
    process = serve("--port", "0", "--no-auth")
    url = address(process)
    healthy = {"status": "healthy", "service": "scheduler", "level": "green"}
    assert get(f"{url}/health") == (200, healthy)
    status, details = get(f"{url}/health/detailed")
    assert (status, details["store"], details["level"]) == (200, "sqlite:///tickwell.db", "green")
    assert get(f"{url}/api/v1/jobs") == (200, {"items": [], "next_cursor": None})
    assert get(f"{url}/nothing")[0] == 404
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_roles_are_processes(serve):
    api = serve("--port", "0", "--role", "api", "--no-auth")
    url = address(api)
    worker = serve("--port", "0", "--role", "planner,worker")
    here = address(worker)
    healthy = {"status": "healthy", "service": "scheduler", "level": "green"}
    assert get(f"{here}/health") == (200, healthy)
    status, details = get(f"{here}/health/detailed")
    assert (status, details["level"]) == (200, "green")
    body = {"name": "a", "trigger": {"on_demand": True}, "target": {"call": {"handler": "none"}}}
    request = urllib.request.Request(f"{url}/api/v1/jobs", json.dumps(body).encode())
    request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert answer.status == 201
    for process in (api, worker):
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_no_role_runs_without_the_key_of_the_store(serve, tmp_path):
    api = serve("--port", "0", "--role", "api")
    address(api)
    api.send_signal(signal.SIGTERM)
    assert api.wait(PATIENCE) == 0
    (tmp_path / "tickwell.db.key").rename(tmp_path / "elsewhere")
    for alone in (["--role", "planner,worker", "--port", "0"], ["--role", "worker", "--no-http"]):
        worker = serve(*alone)
        _, errors = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 2
        assert "is not known here. Copy the key file from where it was made to tickwell.db.key" in (
            errors
        )


def test_an_option_wins_over_a_file(serve, tmp_path):
    (tmp_path / "tickwell.toml").write_text("auth = false\n")
    process = serve("--port", "0", "--role", "api", "--auth")
    assert get(f"{address(process)}/api/v1/jobs")[0] == 401


def test_the_open_api_is_for_this_machine_alone(serve):
    process = serve("--port", "0", "--host", "0.0.0.0", "--no-auth")
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "reachable from other machines" in errors


def said(stream):
    """What it says until it runs."""
    lines = []
    for line in stream:
        lines.append(line)
        if "Ctrl-C" in line or "service_started" in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


def test_the_first_start_shows_a_way_in_on_a_terminal_and_the_second_does_not(serve):
    ours, its = pty.openpty()
    process = serve("--port", "0", "--host", "0.0.0.0", stderr=its)
    os.close(its)
    with os.fdopen(ours) as terminal:
        text = said(terminal)
        (port,) = re.findall(r"http://0.0.0.0:(\d+)/health", text)
        (key,) = re.findall(r"tw_\w{16}_\S{43}", text)
        (link,) = re.findall(r"/login\?link=(\S+)", text)
        url = f"http://127.0.0.1:{port}"
        assert get(f"{url}/api/v1/jobs")[0] == 401
        request = urllib.request.Request(f"{url}/api/v1/jobs", headers={"x-api-key": key})
        assert get(request) == (200, {"items": [], "next_cursor": None})
        with urllib.request.urlopen(f"{url}/login?link={link}", timeout=PATIENCE) as answer:
            assert link in answer.read().decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    text = said(serve("--port", "0").stderr)
    assert "tw_" not in text
    assert "link=" not in text


def test_the_first_start_writes_no_credentials_to_a_file_or_journal(serve):
    text = said(serve("--port", "0", "--store", "sqlite:///x.db").stderr)
    assert "tw_" not in text
    assert "link=" not in text
    assert "tickwell users link local --store sqlite:///x.db --address http://127.0.0.1:" in text
    assert "tickwell keys add NAME --role admin --store sqlite:///x.db" in text


def test_worker_processes_know_which_port_was_free(serve):
    process = serve("--port", "0", "--workers", "1", "--no-auth")
    port = address(process).rpartition(":")[2]
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    (child,) = until(lambda: children.read_text().split())
    # Until it runs its own command it shows that of its parent.
    until(lambda: f"--port\0{port}\0" in Path(f"/proc/{child}/cmdline").read_text())


@pytest.mark.parametrize("role", ["api,planner,worker", "worker"])
def test_what_is_opened_for_local_use_is_said(serve, role):
    text = said(serve("--port", "0", "--role", role, "--allow-local").stderr)
    assert "plain http, 127.0.0.0/8, ::1/128, ports 1-65535" in text


def test_a_supervisor_of_workers_alone_starts_as_a_worker(serve):
    text = said(serve("--no-http", "--role", "worker", "--workers", "1", "--allow-local").stderr)
    assert '"roles":"worker"' in text
    assert "1 worker process, restarted on exit" in text
    assert "plain http, 127.0.0.0/8" in text


def test_it_runs_the_jobs_of_an_app(serve):
    process = serve("--app", "jobs:scheduler", "--no-http")
    assert process.stdout.readline().startswith("tick")
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0


def test_a_killed_worker_process_is_started_anew(serve):
    process = serve("--app", "jobs:scheduler", "--workers", "1", "--no-http")
    first = int(process.stdout.readline().split()[1])
    assert first != process.pid
    os.kill(first, signal.SIGKILL)
    pids = (int(line.split()[1]) for line in process.stdout)
    assert next(pid for pid in pids if pid != first) != process.pid
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_worker_processes_end_when_their_supervisor_is_killed(serve):
    process = serve("--app", "jobs:scheduler", "--workers", "1", "--no-http")
    assert process.stdout.readline().startswith("tick")
    process.kill()
    for _ in process.stdout:
        pass  # the pipe ends when the last process that holds it has ended
    assert process.wait(PATIENCE) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--store", "oracle://x"], "names no store"),
        (["--store", "sqlite:////no/such/folder/x.db"], "/no/such/folder"),
        (["--role", "boss"], "boss is not a role"),
        (["--app", "jobs"], "is not module:name"),
        (["--app", "nowhere:scheduler"], "cannot import"),
        (["--app", "jobs:tick"], "no Scheduler named"),
    ],
)
def test_bad_input_gets_one_sentence_and_no_traceback(serve, arguments, message):
    process = serve(*arguments, "--port", "0")
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode in {1, 2}
    assert message in errors
    assert "Traceback" not in errors


def test_a_taken_port_is_named(serve):
    first = serve("--port", "0")
    port = address(first).rpartition(":")[2]
    second = serve("--port", port, "--store", "sqlite:///other.db")
    _, errors = second.communicate(timeout=PATIENCE)
    assert second.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in errors


def test_help_and_version():
    for arguments in (["--help"], ["version"], ["serve", "--help"]):
        ran = subprocess.run(
            [sys.executable, "-m", "tickwell", *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout


STUCK = """
import time
from tickwell import Scheduler, Settings

scheduler = Scheduler("sqlite:///stuck.db", settings=Settings(drain_timeout="500ms"))

@scheduler.job()
def stuck() -> None:
    print("stuck", flush=True)
    time.sleep(3600)

async def main():
    async with scheduler:
        await stuck.trigger()
"""


def test_a_thread_that_never_ends_does_not_keep_the_process(serve, tmp_path):
    (tmp_path / "stuck.py").write_text(STUCK)
    subprocess.run(
        [sys.executable, "-c", "import asyncio, stuck; asyncio.run(stuck.main())"],
        cwd=tmp_path,
        check=True,
        timeout=PATIENCE,
    )
    process = serve("--app", "stuck:scheduler", "--no-http")
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_a_second_signal_ends_it_at_once(serve, tmp_path):
    (tmp_path / "stuck.py").write_text(STUCK.replace("500ms", "300s"))
    process = serve("--app", "stuck:scheduler", "--no-http")
    said(process.stderr)
    process.send_signal(signal.SIGTERM)
    for line in process.stderr:
        if "service_stopping" in line:
            break
    assert insist(process) in {-signal.SIGTERM, 0}


def insist(process):
    """Ask again until it has ended: what comes within a second of the first is one request."""
    for _ in range(int(PATIENCE)):
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(1)
    raise AssertionError("it does not end")


def test_memory_is_not_shared_with_worker_processes(serve):
    process = serve("--store", "memory://", "--workers", "1", "--no-http")
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "cannot share a store in memory" in errors


def test_an_issuer_that_could_never_be_asked_is_refused_before_anything_starts(serve, tmp_path):
    settings = 'oidc = "corp issuer=http://id.example.com client_id=us"'
    (tmp_path / "tickwell.toml").write_text(settings)
    refused = serve("--store", "sqlite:///jobs.db", "--port", "0")
    _, err = refused.communicate()
    assert refused.returncode == 2, err
    assert "oidc: issuer= plain http is not allowed here. Use https, or set allow_http" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "jobs.db").exists()


def test_a_start_that_is_refused_leaves_no_worker_behind(serve, tmp_path):
    started = serve("--store", "sqlite:///jobs.db", "--port", "0")
    address(started)
    started.terminate()
    started.communicate()
    for key in tmp_path.glob("*key*"):
        key.unlink()
    refused = serve("--store", "sqlite:///jobs.db", "--port", "0")
    _, err = refused.communicate()
    assert refused.returncode == 2, err
    listed = subprocess.run(
        [sys.executable, "-m", "tickwell", "workers", "--json", "--store", "sqlite:///jobs.db"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(listed.stdout)["items"] == []
