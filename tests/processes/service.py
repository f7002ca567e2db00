"""`tickwell serve` as a process under test."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.processes.child import is_alive, until
from tests.processes.site import FAST, Site
from tests.processes.start import ROOT, start


class Service:
    """The parent, and the worker processes that it supervises."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def workers(self) -> list[int]:
        """The process ids of its live children."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split() if is_alive(int(pid))]

    def wait_for_workers(self, count: int, without: tuple[int, ...] = ()) -> list[int]:
        def there() -> list[int]:
            found = [pid for pid in self.workers() if pid not in without]
            return found if len(found) >= count else []

        found: list[int] = until(there)
        return found


@contextmanager
def serving(site: Site, *, workers: int, **settings: object) -> Iterator[Service]:
    """The service on the site's store; the test's calls go into the site's journal."""
    command = ["serve", "--store", site.store, "--no-http"]
    command += ["--app", "tests.processes.app:scheduler", "--workers", str(workers)]
    environment = os.environ | {
        "TICKWELL_TEST_CALLS": str(site.calls),
        "TICKWELL_TEST_SETTINGS": json.dumps(FAST | settings),
    }
    process = start("tickwell", *command, cwd=ROOT, env=environment)
    service, seen = Service(process), list[int]()
    try:
        seen += service.wait_for_workers(workers)
        # Working, not only started: known to the store.
        until(lambda: set(seen) <= {each.worker.pid for each in site.workers()})
        yield service
    finally:
        seen += service.workers() if is_alive(process.pid) else []
        process.kill()
        process.wait()
        for pid in seen:
            if is_alive(pid):
                with suppress(ProcessLookupError):  # one that drains ends by itself
                    os.kill(pid, signal.SIGKILL)
