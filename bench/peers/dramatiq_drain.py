"""dramatiq on Redis: a no-op sent so many times, then drained by one worker of default settings.

`python dramatiq_drain.py URL COUNT`, with an interpreter that has dramatiq and redis.
"""

import json
import sys
import threading
import time

import dramatiq  # type: ignore[import-not-found]
from dramatiq.brokers.redis import RedisBroker  # type: ignore[import-not-found]

TEXT = "x" * 189  # 200 bytes as JSON, as ours


def main(url: str, count: int) -> None:
    broker = RedisBroker(url=url)
    dramatiq.set_broker(broker)
    handled, done, lock = 0, threading.Event(), threading.Lock()

    @dramatiq.actor  # type: ignore[untyped-decorator]
    def noop(text: str) -> None:
        nonlocal handled
        with lock:
            handled += len(text) > 0
            if handled == count:
                done.set()

    for _ in range(count):
        noop.send(TEXT)
    worker = dramatiq.Worker(broker, worker_timeout=100, worker_threads=8)
    begin, cpu = time.perf_counter(), time.process_time()
    worker.start()
    done.wait(300)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    worker.stop()
    print(json.dumps({"handled": handled, "seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
