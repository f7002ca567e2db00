"""A supervised worker process that starts while the store is away, and what it logs."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.processes.child import PATIENCE
from tests.proxy.proxy import proxied
from tests.servers import postgres
from tests.servers.schemas import empty_now, url


@contextmanager
def closed_port():
    """A port of this machine at which nothing listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]


def start(store, folder, *arguments):
    """Its standard input stays open, as a supervisor holds it."""
    return subprocess.Popen(
        [sys.executable, "-m", "tickwell", "serve", "--no-http", "--log-format=json", *arguments],
        cwd=folder,
        env=os.environ | {"TICKWELL_STORE": store},
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_waits_for_the_store_and_logs_two_lines(tmp_path):
    empty_now("supervised")
    migrated = [sys.executable, "-m", "tickwell", "store", "migrate", "--store", url("supervised")]
    subprocess.run(migrated, check=True, cwd=tmp_path, capture_output=True)
    port = postgres.server().port or urlsplit(url("supervised")).port
    with closed_port() as away, proxied(away) as proxy:
        store = url("supervised").replace(f":{port}/", f":{proxy.port}/")
        process = start(store, tmp_path, "--role=worker", "--supervised")
        try:
            first = json.loads(process.stderr.readline())
            assert (first["event"], first["pid"]) == ("store_unavailable", process.pid)
            proxy.target = port
            assert json.loads(process.stderr.readline())["event"] == "store_recovered"
            process.send_signal(signal.SIGTERM)
            _, rest = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.communicate()
    assert [each["event"] for each in events_of(rest)] == ["service_stopping", "engine_stopped"]
    assert process.returncode == 0


def test_it_stops_when_asked_while_the_store_is_away(tmp_path):
    with closed_port() as away:
        store = f"postgresql://tickwell@127.0.0.1:{away}/postgres"
        process = start(store, tmp_path, "--role=worker", "--supervised")
        try:
            assert json.loads(process.stderr.readline())["event"] == "store_unavailable"
            _, rest = process.communicate(timeout=PATIENCE)  # closes its input: no supervisor
        finally:
            process.kill()
            process.communicate()
    assert (process.returncode, events_of(rest)) == (0, [])


def test_a_service_that_cannot_start_says_so_in_the_format_of_its_log(tmp_path):
    with closed_port() as away:
        process = start(f"postgresql://tickwell@127.0.0.1:{away}/postgres", tmp_path)
        _, text = process.communicate(timeout=PATIENCE)
    [line] = events_of(text)
    assert (line["event"], line["level"]) == ("service_failed", "error")
    assert "does not answer" in line["error"]
    assert process.returncode == 5
