"""Three processes on one store, and what a nemesis does to them."""

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

from tests.processes.child import Child, Family
from tests.processes.site import Site


class Crew:
    """Processes that are replaced when they are gone. Every fault is logged with its instant."""

    def __init__(
        self,
        site: Site,
        processes: Family,
        seed: int,
        size: int = 3,
        sending: dict[str, Any] | None = None,
    ) -> None:
        self.site = site
        #: What they are told for webhooks; none: they send none.
        self.sending = sending
        self.processes = processes
        self.random = random.Random(seed)
        self.faults = 0
        self._log = Path(site.folder / "nemesis.jsonl").open("a", encoding="utf-8")  # noqa: SIM115
        self.log("seed", seed=seed)
        self.members = [self._new() for _ in range(size)]

    def _new(self) -> Child:
        # Leases that end within the faults.
        settings = {"lease": "1500ms"} | (self.sending or {})
        webhooks = self.sending is not None
        return self.processes.begin(
            self.site.orders(settings=settings, webhooks=webhooks, report_every=1.0)
        )

    def log(self, what: str, **details: Any) -> None:
        line = {"at": time.time(), "what": what, **details}
        self._log.write(json.dumps(line) + "\n")
        self._log.flush()

    def kill(self, number: int) -> None:
        """-9, at whatever it was doing."""
        self.faults += 1
        self.log("kill", pid=self.members[number].pid)
        self.members[number].kill()

    def replace(self, number: int) -> None:
        self.members[number].close()
        self.processes.children.remove(self.members[number])
        self.members[number] = self._new()
        self.log("start", pid=self.members[number].pid)

    def stop(self, number: int) -> int:
        """SIGTERM; the exit code."""
        self.faults += 1
        self.log("stop", pid=self.members[number].pid)
        self.members[number].wait_for("Started")
        self.members[number].send(signal.SIGTERM)
        return self.members[number].wait()

    def freeze(self, seconds: float) -> None:
        self.faults += 1
        self.log("freeze", seconds=seconds)
        for member in self.members:
            member.send(signal.SIGSTOP)
        time.sleep(seconds)
        for member in self.members:
            member.send(signal.SIGCONT)

    def close(self) -> None:
        self._log.close()
