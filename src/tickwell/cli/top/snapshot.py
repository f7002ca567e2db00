"""What `tickwell top` shows, read once."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import Any

from tickwell.cli.backend import Backend, Document
from tickwell.domain.execution import State
from tickwell.domain.health import Level
from tickwell.ports.records import ExecutionFilter

#: Running executions, and failures, that are read.
RUNNING, FAILURES = 100, 5


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Documents of the API, and the instant at which they were read."""

    now: int
    #: Findings that need a look; none: healthy.
    problems: list[Document]
    metrics: Document
    workers: list[Document]
    queues: list[Document]
    running: list[Document]
    failures: list[Document]

    def busy(self, worker: Document) -> int:
        """Slots of a worker in use: as its last beat says, and no fewer than run as seen here."""
        running: int = sum(each["worker"] == worker["id"] for each in self.running)
        return max(int(worker["busy"]), running)

    def to_document(self) -> dict[str, Any]:
        """For scripts."""
        return {name: value for name, value in asdict(self).items() if name != "now"}


async def read_snapshot(backend: Backend) -> Snapshot:
    """Read everything, each with one call."""
    problems = await read_problems(backend)  # first: it opens the store
    metrics, workers, queues, running, failures = await asyncio.gather(
        backend.metrics(),
        backend.workers(),
        backend.queues_list(),
        backend.executions_list(_in(State.RUNNING), None, RUNNING),
        backend.executions_list(_in(State.DEAD), None, FAILURES),
    )
    return Snapshot(
        now=await backend.now(),
        problems=problems,
        metrics=metrics,
        workers=workers["items"],
        queues=queues["items"],
        running=running["items"],
        failures=failures["items"],
    )


async def read_problems(backend: Backend) -> list[Document]:
    """What is wrong with the service, the worst first."""
    found = (await backend.checkup(fix=False))["items"]
    problems = [each for each in found if each["level"] != Level.GREEN]
    return sorted(problems, key=lambda each: -Level(each["level"]).rank)


def _in(state: State) -> ExecutionFilter:
    return ExecutionFilter(states=frozenset({state}))
