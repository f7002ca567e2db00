"""A Celery worker, beside the process that measures it."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: Of ours and of the other alike.
POOL = tuple(os.environ.get("BENCH_POOL", "-P prefork -c 4").split())
PROCESSES = int(POOL[3]) if POOL[1] == "prefork" else 1
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR")


@contextmanager
def started(app: str, *command: str) -> Iterator[None]:
    """Run a command of Celery for as long as this lasts."""
    line = [sys.executable, "-m", "celery", "-A", app, *(command or ("worker", *POOL, *QUIET))]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def cpu() -> float:
    """Seconds of this process, and of all children that have ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(each.ru_utime + each.ru_stime for each in used)


def named(store: str, broker: str, starts: str = "") -> None:
    """Tell it to whatever is started."""
    os.environ |= {"BENCH_STORE": store, "BENCH_BROKER": broker, "BENCH_STARTS": starts}
