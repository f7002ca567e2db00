"""Celery's workers run what Tickwell plans: each fire once, whatever becomes of the messages."""

import os
import signal

import pytest

from tests.celery.crew import crew_on
from tests.processes.child import family, is_alive, until
from tests.processes.jobs import RUN_ALL, every, job, once
from tests.processes.site import Site
from tests.servers import rabbitmq, redis
from tickwell.clock import wall_millis
from tickwell.domain.policy import Retry
from tickwell.observe.metrics.definitions import ATTEMPTS
from tickwell.observe.metrics.series import Series
from tickwell.services.executions.executions import read_output, read_progress

FIRES = 300
RETRY = Retry(max_attempts=4, delay="100ms", jitter=0.0)


def add_burst(site, fires=FIRES, ahead=1500):
    now = wall_millis()
    names = [f"job-{number}" for number in range(fires)]
    site.add(
        *(job(name, "count", once(now + ahead), now, misfire=RUN_ALL) for name in names),
        fires={name: [now + ahead] for name in names},
    )


def add_load(site, seconds, jobs=10, handler="count", **policies):
    """So many fires every 200 ms."""
    now = wall_millis()
    first, last = now // 200 * 200 + 400, now + int(seconds * 1000)
    names = [f"load-{number}" for number in range(jobs)]
    trigger = every(200, first, last)
    retry = {"retry": RETRY, "misfire": RUN_ALL}
    site.add(
        *(job(name, handler, trigger, now, **retry, **policies) for name in names),
        fires={name: list(range(first, last + 1, 200)) for name in names},
    )


def hold(site, name="held", until_file="go", **policies):
    now = wall_millis()
    payload = {"until": str(site.folder / until_file)}
    made = job(name, "hold", once(now), now, misfire=RUN_ALL, payload=payload, **policies)
    site.add(made, fires={name: [now]})


def let_go(site):
    (site.folder / "go").touch()


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_each_fire_of_a_burst_is_run_once(site, crew, pool):
    crew.planner()
    workers = [crew.worker(pool), crew.worker(pool)]
    for worker in workers:
        worker.wait_until_ready()
    add_burst(site)
    site.wait_until_quiet()
    history = site.judge()
    assert len(history.rows) == len(history.calls) == FIRES
    assert {row.state for row in history.rows} == {"succeeded"}
    assert [worker.stop() for worker in workers] == [0, 0]
    assert site.workers() == []


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_attempts_are_counted_in_the_folder_that_processes_share(site, crew, pool):
    crew.planner()
    folder = site.folder / "metrics"
    folder.mkdir()
    worker = crew.worker(pool, metrics_dir=str(folder))
    worker.wait_until_ready()
    add_burst(site, fires=20)
    site.wait_until_quiet()

    reader = Series(str(folder))  # as a service beside it
    counted = [each for each in reader.samples() if each.metric is ATTEMPTS]
    assert {each.labels for each in counted} == {("succeeded", "call")}
    assert sum(each.values[0] for each in counted) == 20
    assert worker.stop() == 0
    reader.close()


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_warm_shutdown_under_load_loses_nothing(site, crew, pool):
    """What a slot has claimed and not started goes back; the next worker runs it."""
    crew.planner()
    worker = crew.worker(pool)
    worker.wait_until_ready()
    add_load(site, 2, handler="nap", payload={"seconds": 0.05})
    site.wait_for_calls(20)
    assert worker.stop() == 0
    crew.worker(pool)
    site.wait_until_quiet()
    outcomes = {each.outcome for row in site.judge().rows for each in row.tries}
    assert outcomes <= {"succeeded", "released"}


def test_a_message_is_only_a_hint(site, crew):
    """Replayed, for an execution that has ended, or for none: nothing comes of it."""
    crew.planner()
    crew.worker().wait_until_ready()
    hold(site)
    site.wait_for_calls(1)
    [line] = site.begun()
    crew.send(*[line.execution] * 100, "01a1ebca-0a3a-78df-95d7-d6d7cc13d4b8", "no id at all")
    until(lambda: crew.depth() == 0, what="all messages to be taken")
    let_go(site)
    site.wait_until_quiet()
    crew.send(*[line.execution] * 20)
    add_burst(site, fires=1, ahead=100)  # runs after them: messages are first in, first out
    site.wait_until_quiet()
    assert len(site.judge().calls) == 2
    assert "celery" not in site.execution("held").worker
    assert site.execution("held").worker.startswith("w0@")


def test_a_message_with_text_that_no_store_can_read_is_dropped(tmp_path):
    """Asked for it, Redis fails each time, and the worker would ask for nothing else."""
    server = redis.start()
    site = Site(tmp_path, server.url)
    with family() as processes, crew_on(site, f"{server.url[:-1]}1", processes) as crew:
        crew.planner()
        crew.worker("threads").wait_until_ready()
        hold(site)
        site.wait_for_calls(1)  # Redis reads ids only in a queue that has been used
        crew.send("\ud800")
        let_go(site)
        add_burst(site, fires=2, ahead=100)
        site.wait_until_quiet()
        assert {row.state for row in site.judge().rows} == {"succeeded"}


def test_a_killed_process_of_the_pool_costs_one_attempt(site, crew):
    crew.planner()
    worker = crew.worker(many=1)
    [pid] = worker.wait_until_ready()
    hold(site, retry=RETRY)
    site.wait_for_calls(1)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    site.wait_for_calls(2)
    worker.kill()
    crew.worker(many=1)
    site.wait_for_calls(3)
    let_go(site)
    site.wait_until_quiet()
    [row] = site.judge().rows
    assert [each.outcome for each in row.tries] == ["lost", "lost", "succeeded"]


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_cancel_progress_and_output_work_inside(site, crew, pool):
    crew.planner()
    worker = crew.worker(pool, many=1)
    worker.wait_until_ready()
    now = wall_millis()
    payload = {"until": str(site.folder / "go")}
    site.add(job("told", "tell", once(now), now, payload=payload), fires={"told": [now]})
    site.wait_for_calls(1)
    [line] = site.begun()

    def ask(read):
        return site.ask(lambda store: read(store, "default", line.execution, wall_millis()))

    progress = until(lambda: ask(read_progress), what="progress")
    assert (progress.fraction, progress.message) == (0.42, "under way")
    site.ask(lambda store: store.request_cancel("default", [line.execution], wall_millis()))
    site.wait_until_quiet()
    assert site.execution("told").result == "cancelled"  # it heard of it, and stopped in its way
    [output] = until(lambda: ask(read_output), what="output")
    assert output.lines == ("told by the handler",)


def test_nothing_is_lost_with_the_broker(site, crew, broker):
    """Killed with -9 under load, and away until the dispatcher has noticed."""
    planner = crew.planner()
    crew.worker().wait_until_ready()
    add_load(site, 3, jobs=5)
    site.wait_for_calls(10)
    broker.kill()
    planner.wait_for("StepFailed", service="dispatcher")
    broker.run()
    site.wait_until_quiet()
    site.judge()


def test_rabbitmq_carries_hints_too(site):
    server = rabbitmq.start()
    with family() as processes, crew_on(site, server.url, processes) as crew:
        crew.planner()
        crew.worker().wait_until_ready()
        add_load(site, 4, jobs=5)
        site.wait_for_calls(20)
        server.kill()
        server.run()
        site.wait_until_quiet()
    server.stop()
    site.judge()
