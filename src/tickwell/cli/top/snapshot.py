"""What `tickwell top` shows, read once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tickwell.cli.command import Session
from tickwell.cli.output.views import Document
from tickwell.clock import wall_millis
from tickwell.domain.health import Level

#: Running executions, and failures, that are read.
RUNNING, FAILURES = 100, 5


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Documents of the API, and the instant at which they were read."""

    now: int
    #: Findings that need a look; none: healthy.
    problems: list[Document]
    #: Without an answer of the store there is none of the following.
    metrics: Document | None = None
    workers: Sequence[Document] = field(default_factory=list)
    queues: Sequence[Document] = field(default_factory=list)
    running: Sequence[Document] = field(default_factory=list)
    failures: Sequence[Document] = field(default_factory=list)

    def busy(self, worker: Document) -> int:
        """Attempts that a worker runs: as of its last beat, and no fewer than are seen here."""
        running: int = sum(each["worker"] == worker["id"] for each in self.running)
        return max(int(worker["busy"]), running)

    def to_document(self) -> dict[str, Any]:
        """For scripts."""
        return {name: value for name, value in asdict(self).items() if name != "now"}


async def read_snapshot(session: Session) -> Snapshot:
    """Read everything, each with one call."""
    problems = await read_problems(session)  # first: it opens the store
    if any(each["check"] == "store" and each["level"] == Level.RED for each in problems):
        # Not the store's time: to ask for it would wait for another connection to time out.
        return Snapshot(now=wall_millis(), problems=problems)
    client = session.client
    metrics, workers, queues, running, failures = await asyncio.gather(
        client.get_metrics(),
        client.list_workers(),
        client.list_queues(),
        client.list_executions(state=["running"], limit=RUNNING),
        client.list_executions(state=["dead"], limit=FAILURES),
    )
    return Snapshot(
        now=await session.now(),
        problems=problems,
        metrics=metrics,
        workers=workers["items"],
        queues=queues["items"],
        running=running["items"],
        failures=failures["items"],
    )


async def read_problems(session: Session) -> list[Document]:
    """What is wrong with the service, the worst first."""
    found = await session.connection.doctor(fix=False)
    problems = [each for each in found if each["level"] != Level.GREEN]
    return sorted(problems, key=lambda each: -Level(each["level"]).rank)
