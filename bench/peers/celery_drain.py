"""Bare Celery: `python -m bench.peers.celery_drain BROKER COUNT`.

Measured is the time from the first `send_task` until the broker has neither messages nor
unacknowledged ones, with a worker that is up and idle.
"""

import json
import sys
import time

import redis

from bench.ours.celery_worker import cpu, named, started
from bench.ours.process import PAYLOAD

PATIENCE = 600.0


def main(broker: str, count: int) -> None:
    named("", broker)
    from bench.peers.celery_app import app

    keys = redis.Redis.from_url(broker)
    used = cpu()
    with started("bench.peers.celery_app"):
        app.send_task("noop", kwargs=PAYLOAD)
        until_empty(keys)  # the worker is up
        begin = time.time()
        for _ in range(count):
            app.send_task("noop", kwargs=PAYLOAD)
        until_empty(keys)
        seconds = time.time() - begin
    keys.close()
    print(json.dumps({"seconds": seconds, "cpu": cpu() - used}))


def until_empty(keys: "redis.Redis") -> None:
    end = time.time() + PATIENCE
    while keys.llen("celery") or keys.hlen("unacked"):
        assert time.time() < end
        time.sleep(0.005)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
