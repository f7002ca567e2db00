"""The load of the proofs: many small jobs of every policy, which end with the faults."""

from typing import Any

from tests.processes.jobs import RUN_ALL, every, job
from tests.processes.site import Site
from tickwell.clock import wall_millis
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import Job
from tickwell.domain.policy import Backoff, Misfire, Retention, Retry

RETRY = Retry(max_attempts=4, backoff=Backoff.FIXED, delay="200ms", jitter=0.0)
#: The proof needs all of its history.
KEEP = Retention(count=10**9)


def add_load(site: Site, seconds: float, jobs: int = 30, period: int = 1000) -> None:
    """Jobs that fire until so many seconds from now; a tenth of them fails at first."""
    now = wall_millis()
    first = now // period * period + period
    last = now + int(seconds * 1000)
    kinds: list[dict[str, Any]] = [
        {"handler": "count", "misfire": RUN_ALL},
        {"handler": "nap", "payload": {"seconds": 0.1}, "misfire": RUN_ALL},
        {"handler": "count", "misfire": Misfire(grace="1s500ms")},
        {"handler": "nap", "payload": {"seconds": 0.05}, "concurrency": Concurrency("key", 3)},
        {"handler": "nap", "payload": {"seconds": 0.3}, "overlap": Overlap.SKIP},
        {"handler": "count", "overlap": Overlap.ALLOW, "misfire": RUN_ALL},
        {"handler": "count", "overlap": Overlap.QUEUE_ALL, "misfire": RUN_ALL},
        {"handler": "count", "overlap": Overlap.QUEUE_ONE},
        {"handler": "nap", "payload": {"seconds": 1.2}, "overlap": Overlap.SKIP},
        {"handler": "fail_first", "payload": {"times": 1}, "overlap": Overlap.ALLOW},
    ]
    made: list[Job] = []
    for number in range(jobs):
        policies = dict(kinds[number % len(kinds)])
        handler = policies.pop("handler")
        trigger = every(period, first, last)
        name = f"job-{number:04}"
        made.append(job(name, handler, trigger, now, retry=RETRY, retention=KEEP, **policies))
    fires = list(range(first, last + 1, period))
    site.add(*made, fires={each.name: fires for each in made})
