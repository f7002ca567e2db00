"""One executor for all kinds of targets: each attempt goes to the executor of its kind."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any

from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.ports.executor import Executor, Sort


class Registry:
    """Executors by the class of their targets."""

    def __init__(self, executors: Mapping[type, Executor]) -> None:
        self._executors = dict(executors)

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        found: dict[Sort, frozenset[str]] = {sort: frozenset() for sort in Sort}
        for executor in self._executors.values():
            for sort, names in executor.abilities().items():
                found[sort] |= names
        return found

    def prepare(self, job: Job) -> None:
        executor = self._executors.get(type(job.target))
        if executor is not None:
            executor.prepare(job)

    async def refusal(self, job: Job) -> str:
        executor = self._executors.get(type(job.target))
        return "" if executor is None else await executor.refusal(job)

    def run(self, claim: Claim) -> Coroutine[Any, Any, Outcome]:
        # Handed on as it is: one more coroutine to wake would cost every attempt.
        return self._executors[type(claim.job.target)].run(claim)

    async def close(self) -> None:
        """Let go of what executors hold open: connections, processes."""
        for executor in self._executors.values():
            await executor.close()
