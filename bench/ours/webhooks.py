"""Sends webhooks: `python -m bench.ours.webhooks fill|drain|once WHERE COUNT URL [profile]`.

`fill` adds requested runs and `drain` sends them; `once` sends the webhooks of COUNT jobs that are
all due at one instant, which it tells.
"""

import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bench.ours.process import PAYLOAD, add_jobs, enqueue, make_job, open_store, run, url_of
from bench.ours.watched import Watched
from bench.profile import Sampler, show
from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.event import Events
from tickwell.domain.http import Http
from tickwell.domain.trigger import Once
from tickwell.executors.handlers import Handlers
from tickwell.settings import Settings
from tickwell.wiring import make_engine

#: Seconds from the first job added to the instant.
AHEAD = 5
#: A receiver on this machine, which must be allowed.
NEAR = {"allow_http": True, "allow_private": ("127.0.0.0/8",), "allow_ports": ("1-65535",)}


async def fill(where: str, count: int, url: str) -> dict[str, Any]:
    """The runs of the drain, with a webhook in place of the no-op."""
    store = open_store(where)
    await store.open()
    await enqueue(store, count, Http(url))
    await store.close()
    return {"enqueued": count}


async def once(where: str, count: int, url: str) -> dict[str, Any]:
    """Add the jobs, and send."""
    now = wall_millis()
    instant = now // 1000 + AHEAD
    trigger = Once(datetime.fromtimestamp(instant, UTC))
    store = open_store(where)
    await store.open()
    jobs = [replace(make_job(n, Http(url), trigger, now), payload=PAYLOAD) for n in range(count)]
    await add_jobs(store, jobs, now)
    await store.close()
    return await drain(where, count, url) | {"instant": instant}


async def drain(where: str, count: int, _: str) -> dict[str, Any]:
    """Start, send, stop, as production is wired; when the last report was written."""
    store = open_store(where)
    await store.open()
    settings = Settings(store=url_of(where), **NEAR)  # type: ignore[arg-type]
    engine = make_engine(store, Handlers(), StoreClock(), settings, events=Events())
    watched = Watched(store)
    engine.reporter.store = watched  # type: ignore[assignment]
    sampler = Sampler() if "profile" in sys.argv else None
    if sampler:
        sampler.start()
    cpu = time.process_time()
    await engine.start()
    await watched.until(count)
    cpu = time.process_time() - cpu
    if sampler:
        sampler.stop()
        print(show(sampler, watched.written), file=sys.stderr)
    await engine.stop()
    await store.close()
    sent, given_back = watched.written, watched.given_back
    return {"sent": sent, "given_back": given_back, "ended": watched.last, "cpu": cpu}


if __name__ == "__main__":
    run(globals()[sys.argv[1]](sys.argv[2], int(sys.argv[3]), sys.argv[4]))
