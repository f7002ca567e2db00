"""An executor that does what a test tells it to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from tickwell.domain.ability import handler_of, shared_ability
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.errors import InvalidInput
from tickwell.ports.executor import Sort

#: An outcome, an error to raise, or a function that takes its time.
Act = Outcome | Exception | Callable[[Claim], Awaitable[Outcome]]


def succeeds(result: object = None) -> Outcome:
    """The outcome of an attempt that went well."""
    return Outcome(kind=OutcomeKind.SUCCEEDED, result=result)


def fails(error: str = "failed on purpose", *, retry: bool = True) -> Outcome:
    """The outcome of an attempt that did not."""
    return Outcome(kind=OutcomeKind.FAILED, error=error, retry=retry)


@dataclass(frozen=True, slots=True)
class Called:
    """One attempt that was started."""

    handler: str
    #: The execution's id, and the number of the attempt.
    id: str
    attempt: int
    payload: object


class FakeExecutor:
    """`ports.executor.Executor`: scripted outcomes by handler and attempt; remembers every call."""

    def __init__(self, *handlers: str, sort: Sort = Sort.TASK) -> None:
        self.handlers = handlers
        self.sort = sort
        #: In the order in which they were started.
        self.calls: list[Called] = []
        self._scripts: dict[str, tuple[Act, ...]] = {}
        self._held: dict[str, asyncio.Event] = {}

    def script(self, handler: str, *acts: Act) -> None:
        """What its first, second and further attempts do; the last act goes for all that follow."""
        self._scripts[self._known(handler)] = acts

    def hold(self, handler: str) -> None:
        """Attempts of this handler start and do not end until released."""
        self._held[self._known(handler)] = asyncio.Event()

    def release(self, handler: str) -> None:
        """What is held goes on."""
        if handler not in self._held:
            raise InvalidInput(f"{handler!r} is not held", field="release", hint="Hold it before")
        self._held.pop(handler).set()

    def _known(self, handler: str) -> str:
        if handler not in self.handlers:
            raise InvalidInput(
                f"{handler!r} is none of its handlers",
                field="handler",
                hint=f"It stands in for {', '.join(self.handlers) or 'none'}",
            )
        return handler

    async def close(self) -> None:
        """Nothing is held open."""

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        return {self.sort: frozenset(map(shared_ability, self.handlers))}

    async def refusal(self, job: Job) -> str:
        """It runs whatever it is asked to."""
        return ""

    def prepare(self, job: Job) -> None:
        """There is nothing to load."""

    async def run(self, claim: Claim) -> Outcome:
        handler = handler_of(claim.job.ability)
        self.calls.append(Called(handler, claim.id, claim.attempt, claim.payload))
        held = self._held.get(handler)
        if held is not None:
            await held.wait()
        acts = self._scripts.get(handler)
        if not acts:
            return succeeds()
        act = acts[min(claim.attempt, len(acts)) - 1]
        if isinstance(act, Exception):
            raise act
        if isinstance(act, Outcome):
            return _copy(act)
        return await act(claim)


def _copy(outcome: Outcome) -> Outcome:
    """A script is told more than once; the runner writes into what it gets."""
    return Outcome(
        kind=outcome.kind,
        error=outcome.error,
        result=outcome.result,
        retry=outcome.retry,
        delay=outcome.delay,
        pause=outcome.pause,
        not_here=outcome.not_here,
    )
