"""Real beats and a real Celery worker; the calls are counted outside the store."""

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis as driver

from tests.celery_beat.shop_calls import CALLS
from tests.servers import redis
from tickwell import Scheduler
from tickwell.declared.internals import internals
from tickwell.domain.execution import State
from tickwell.ports.records import ExecutionFilter

ROOT = Path(__file__).parents[2]
DATABASE = 11
PATIENCE = 200
BEAT = ("beat", "-S", "tickwell.celery:TickwellScheduler", "--pidfile=")


@pytest.fixture
def broker():
    url = redis.server().url.rpartition("/")[0] + f"/{DATABASE}"
    with driver.Redis.from_url(url, socket_timeout=None) as client:
        client.flushdb()
        yield client, url
        client.flushdb()


@contextmanager
def celery(*arguments, url, folder):
    """A process of Celery's, in a folder of its own, killed at the end if it still runs."""
    environment = {
        **os.environ,
        "SHOP_BROKER": url,
        "TICKWELL_STORE": f"sqlite:///{folder}/tickwell.db",
        "TICKWELL_LEASE": "3s",
        "TICKWELL_BEAT": "1s",
        "TICKWELL_SWEEP": "500ms",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "celery", "-A", "tests.celery_beat.shop", "-q", *arguments]
    process = subprocess.Popen(command, cwd=folder, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(client, count):
    """Until so many more calls were counted; they are kept in another list."""
    for _ in range(count):
        assert client.blmove(CALLS, "seen", PATIENCE, "LEFT", "RIGHT") is not None, "no call came"


def counted(client):
    """How often each execution was called."""
    texts = (*client.lrange("seen", 0, -1), *client.lrange(CALLS, 0, -1))
    return Counter(text.decode().split()[0] for text in texts)


def executions(folder):
    reader = Scheduler(f"sqlite:///{folder}/tickwell.db")

    async def read():
        await reader.open()
        return await internals(reader).executions.list(
            ExecutionFilter(project="default"), limit=1000
        )

    try:
        return reader.blocking.call(read).items
    finally:
        reader.blocking.stop()


def test_beats_that_are_killed_in_turn_send_every_fire_time(broker, tmp_path):
    client, url = broker
    there = {"url": url, "folder": tmp_path}
    with (
        celery("worker", "-P", "solo", "--without-mingle", "--without-gossip", **there) as worker,
        celery(*BEAT, **there) as first,
    ):
        wait_for(client, 6)
        with celery(*BEAT, **there) as second:
            wait_for(client, 6)
            first.kill()
            wait_for(client, 6)
            with celery(*BEAT, **there) as third:
                wait_for(client, 6)
                second.kill()
                wait_for(client, 6)
                third.send_signal(signal.SIGTERM)
                assert third.wait(PATIENCE) == 0
        found = executions(tmp_path)
        sent = [each for each in found if each.state is State.SUCCEEDED]
        while {each.id for each in sent} - counted(client).keys():
            wait_for(client, 1)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    calls = counted(client)
    assert len({(each.job_id, each.fire_time) for each in found}) == len(found)
    # Only what was under way when its beat was killed may have been sent once more.
    assert {each.id: calls[each.id] for each in sent if each.attempt == 1} == {
        each.id: 1 for each in sent if each.attempt == 1
    }
    for each in found:
        assert calls[each.id] <= each.attempt
        assert calls[each.id] >= (each.state is State.SUCCEEDED)
    assert calls.keys() <= {each.id for each in found}
