"""Celery as the engine, at length: `./run prove --only celery`."""

import os
import random
import signal
import time

import pytest

from tests.celery.crew import crew_on
from tests.celery.test_engine import add_burst, add_load
from tests.processes.child import family
from tests.processes.site import SHORT, Site
from tests.prove.sites import SITES
from tests.servers import rabbitmq, redis
from tests.servers.redis_keys import client

FIRES = 10_000
#: Stores and brokers; "both" is one Redis for the two.
PLACES = [("sqlite", "redis"), ("postgresql", "redis"), ("postgresql", "amqp"), ("redis", "both")]


@pytest.fixture(params=PLACES, ids=["-".join(place) for place in PLACES])
def place(request, tmp_path):
    """A site, and the server of its broker."""
    store, kind = request.param
    site = SITES[store](tmp_path, f"celery_{os.getpid()}")
    if kind == "both":
        server = redis.start("--appendonly", "yes", "--appendfsync", "always")
        site = Site(tmp_path, f"{server.url}?prefix=celery")
    else:
        server = rabbitmq.start() if kind == "amqp" else redis.start()
    url = server.url.replace("/0", "/1") if kind == "both" else server.url
    with family() as processes, crew_on(site, url, processes) as crew:
        yield site, server, crew
    server.stop()


def test_ten_thousand_at_one_instant(place):
    site, _, crew = place
    crew.planner()
    for worker in [crew.worker(), crew.worker()]:
        worker.wait_until_ready()
    add_burst(site, FIRES, ahead=20_000)
    site.wait_until_quiet(900)
    history = site.judge()
    assert len(history.rows) == len(history.calls) == FIRES


def test_nothing_is_lost_with_the_broker(place):
    """Killed under load, and later flushed."""
    site, server, crew = place
    planner = crew.planner()
    crew.worker().wait_until_ready()
    add_load(site, 5)
    site.wait_for_calls(20)
    server.kill()
    planner.wait_for("StepFailed", service="dispatcher")
    server.run()
    planner.wait_for("StepRecovered", service="dispatcher")
    site.wait_until_quiet()
    site.judge()


def test_nothing_is_lost_whatever_is_killed(place):
    """The broker, processes of the pool, workers and the planner, in turn, under load."""
    site, server, crew = place
    chosen = random.Random(7)
    planner = crew.planner(**SHORT)
    for worker in [crew.worker(**SHORT), crew.worker(**SHORT)]:
        worker.wait_until_ready()
    add_load(site, 60)
    end = time.monotonic() + 50
    while time.monotonic() < end:
        time.sleep(chosen.uniform(1, 4))
        match chosen.randrange(5):
            case 0:
                server.kill()
                server.run()
            case 1:
                pids = [row.pid for worker in crew.workers for row in worker.rows()]
                os.kill(chosen.choice(pids), signal.SIGKILL) if pids else None
            case 2:
                worker = chosen.choice(crew.workers)
                worker.kill()
                crew.workers.remove(worker)
                crew.worker(**SHORT)
            case 3:
                planner.kill()
                planner = crew.planner(**SHORT)
            case 4:
                site.ask(lambda store: store.ping())
                crew.send(*[line.execution for line in site.begun()[-100:]])
    site.wait_until_quiet(600)
    site.judge()


def test_a_broker_that_forgets_everything(tmp_path):
    site, server = Site(tmp_path), redis.start()
    with family() as processes, crew_on(site, server.url, processes) as crew:
        crew.planner()
        crew.worker().wait_until_ready()
        add_load(site, 20)
        for _ in range(8):
            time.sleep(2)
            with client(server) as keys:
                keys.flushall()
        site.wait_until_quiet(300)
    server.stop()
    site.judge()


def test_a_worker_that_is_frozen_past_its_lease(place):
    """Another runs what it held; thawed, it can change nothing any more."""
    site, _, crew = place
    crew.planner(**SHORT)
    frozen, other = crew.worker(**SHORT), crew.worker(**SHORT)
    pids = frozen.wait_until_ready()
    other.wait_until_ready()
    add_load(site, 20, handler="nap", payload={"seconds": 0.2})
    site.wait_for_calls(20)
    for pid in (frozen.process.pid, *pids):
        os.kill(pid, signal.SIGSTOP)
    time.sleep(10)
    for pid in (*pids, frozen.process.pid):
        os.kill(pid, signal.SIGCONT)
    site.wait_until_quiet(300)
    site.judge()


def test_the_store_is_away_for_twenty_seconds(tmp_path):
    server = redis.start("--appendonly", "yes", "--appendfsync", "always")
    broker = redis.start()
    site = Site(tmp_path, f"{server.url}?prefix=away")
    with family() as processes, crew_on(site, broker.url, processes) as crew:
        crew.planner()
        crew.worker().wait_until_ready()
        add_load(site, 40)
        site.wait_for_calls(20)
        server.freeze()
        time.sleep(20)
        server.thaw()
        site.wait_until_quiet(300)
        site.judge()
    broker.stop()
    server.stop()
