"""Webhooks are sent from inside Celery's workers, with the same policies as anywhere."""

from dataclasses import replace

from tests.celery.test_engine import RETRY
from tests.processes.jobs import RUN_ALL, every, job, once
from tests.prove.receiver import Receiver
from tests.prove.webhooks import SENDING
from tickwell.clock import wall_millis
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.http import Http
from tickwell.domain.policy import Retry

ONCE = Retry(max_attempts=1)


def add(site, name, url, now, fires, **policies):
    """A webhook at each of these instants, which are 200 ms apart.

    As of an instant before all of them: on a busy machine it is added later, and owes them still.
    """
    trigger = every(200, fires[0], fires[-1]) if len(fires) > 1 else once(fires[0])
    made = job(name, "count", trigger, now, misfire=RUN_ALL, **policies)
    site.by_request = True
    site.add(replace(made, target=Http(url, timeout="30s")), fires={name: fires})


def test_webhooks_are_retried_and_end_as_dead_letters(site, crew):
    crew.planner()
    crew.worker(**SENDING).wait_until_ready()
    with Receiver(site.calls, seed=1) as receiver:
        now = wall_millis()
        add(site, "well", receiver.url("count"), now, [now])
        add(site, "again", receiver.url("fail_first"), now, [now], retry=RETRY)
        add(site, "dead", receiver.url("fail_first"), now, [now], retry=ONCE)
        site.wait_until_quiet()
    states = {row.job: (row.state, len(row.tries)) for row in site.judge().rows}
    assert states == {"well": ("succeeded", 1), "again": ("succeeded", 2), "dead": ("dead", 1)}
    assert "500" in str(site.execution("dead").attempts[0].error)


def test_keys_and_overlaps_hold_between_processes_of_the_pool(site, crew):
    """The history checker knows how many may run at once, and in which order."""
    crew.planner()
    crew.worker(many=2, **SENDING).wait_until_ready()
    with Receiver(site.calls, seed=1) as receiver:
        now = wall_millis()
        first = now // 200 * 200 + 400
        fires, nap = list(range(first, first + 1000, 200)), receiver.url("nap")
        for name in ("left", "right"):
            add(site, name, nap, now, fires, concurrency=Concurrency("one at a time", 1))
        add(site, "in order", nap, now, fires, overlap=Overlap.QUEUE_ALL)
        site.wait_until_quiet()
    rows = site.judge().rows
    assert len([row for row in rows if row.job == "in order" and row.state == "succeeded"]) == 5
