"""Webhooks under faults: what arrived at the receiver is compared with what is on record."""

import asyncio
import threading
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from typing import Any

from tests.processes.jobs import RUN_ALL, every, job
from tests.processes.site import Site
from tests.prove.load import KEEP
from tests.prove.receiver import Receiver
from tickwell.clock import wall_millis
from tickwell.domain.change import edit
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.policy import Backoff, Delivery, Misfire, Retry
from tickwell.errors import TickwellError
from tickwell.wiring import make_store

RETRY = Retry(max_attempts=6, backoff=Backoff.FIXED, delay="200ms", jitter=0.0, max_losses=9)
PERIOD = 1000
#: What processes are told that call a receiver on this machine.
SENDING = {
    "allow_http": True,
    "allow_private": ["127.0.0.0/8"],
    "allow_ports": ["1-65535"],
    # A receiver that answers 500 by order says nothing about its host.
    "breaker_failures": 1_000_000,
}


def add_webhooks(site: Site, receiver: Receiver, seconds: float, jobs: int = 22) -> list[Job]:
    """Jobs of every policy that call the receiver until so many seconds from now."""
    now = wall_millis()
    first = now // PERIOD * PERIOD + PERIOD
    last = now + int(seconds * 1000)
    kinds: list[dict[str, Any]] = [
        {"path": "count", "misfire": RUN_ALL, "overlap": Overlap.ALLOW},
        {"path": "nap"},
        {"path": "count", "misfire": Misfire(grace="1s500ms")},
        {"path": "nap", "concurrency": Concurrency("key", 3)},
        {"path": "nap", "overlap": Overlap.SKIP},
        {"path": "fail_first", "overlap": Overlap.ALLOW, "misfire": RUN_ALL},
        {"path": "count", "overlap": Overlap.QUEUE_ALL},
        {"path": "nap", "overlap": Overlap.QUEUE_ONE},
        {"path": "nap", "overlap": Overlap.CANCEL_RUNNING},
        {"path": "busy", "overlap": Overlap.ALLOW},
        {"path": "count", "overlap": Overlap.ALLOW, "delivery": Delivery.AT_MOST_ONCE},
    ]
    made: list[Job] = []
    for number in range(jobs):
        policies = dict(kinds[number % len(kinds)])
        target = Http(receiver.url(policies.pop("path")), timeout="5s")
        one = job(f"job-{number:04}", "count", every(PERIOD, first, last), now, **policies)
        made.append(replace(one, target=target, retry=RETRY, retention=KEEP))
    fires = list(range(first, last + 1, PERIOD))
    site.by_request = True
    site.add(*made, fires={each.name: fires for each in made})
    return made


class Edits(threading.Thread):
    """A person who edits one job after the other, five times a second, as far as the store lets."""

    def __init__(self, site: Site, jobs: list[Job]) -> None:
        super().__init__(daemon=True)
        self.site = site
        self.jobs = jobs
        self.made = 0
        self._over = threading.Event()

    def run(self) -> None:
        asyncio.run(self._edit())

    def end(self) -> None:
        self._over.set()
        self.join()

    async def _edit(self) -> None:
        store, is_open = make_store(self.site.store), False
        try:
            for one in cycle(self.jobs):
                if self._over.is_set():
                    return
                changed = edit(replace(one, tags=(f"edit-{self.made}",)))
                with suppress(TickwellError):  # the server is away
                    if not is_open:
                        await store.open()
                        is_open = True
                    await store.change_jobs(one.project, [one.id], changed, wall_millis())
                    self.made += 1
                await asyncio.sleep(0.2)
        finally:
            await store.close()
