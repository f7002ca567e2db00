"""Steps on their way to the store: those of all attempts of a worker that come together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from itertools import islice
from typing import Any, TypeVar

from tickwell.clock import Clock
from tickwell.domain.execution import Claim
from tickwell.domain.step import Step
from tickwell.errors import NotRunning, StaleAttempt, StoreUnavailable
from tickwell.ports.store import StepStore

T = TypeVar("T")

#: Steps of one write.
BATCH = 200
#: Seconds until a store that does not answer is asked again.
REST = 1.0


class StepWriter:
    """What comes while one write is under way goes into the next.

    A store that does not answer is waited for: what a step has done would be done again. Its
    attempt ends at its timeout all the same, and what is written later is refused.
    """

    def __init__(self, store: StepStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._pending: deque[tuple[Step, asyncio.Future[None]]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def read(self, claim: Claim) -> list[Step]:
        """What earlier attempts of an execution have done."""
        return await self._patiently(lambda: self.store.list_steps(claim.job.project, claim.id))

    async def expire(self, claim: Claim, name: str, value: Any, now: int) -> bool:
        """End what was asked, unless an answer came first; whether none did."""
        project = claim.job.project
        return await self._patiently(
            lambda: self.store.answer_step(project, claim.id, name, value, now)
        )

    async def write(self, step: Step) -> None:
        """Returns once the step is in the store; raises `StaleAttempt` if its attempt is over."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((step, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="tickwell-steps")
        await done

    async def close(self) -> None:
        """Write nothing more; the attempts that wait for it are told."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        left = list(self._pending)
        self._pending.clear()
        for _, done in left:
            if not done.done():
                done.set_exception(NotRunning("the worker stopped before the step was written"))

    async def _run(self) -> None:
        while self._pending:
            batch = list(islice(self._pending, BATCH))
            try:
                await self._write(batch)
            except Exception:  # noqa: BLE001 - one of them may be to blame: not the others
                for one in batch:
                    await self._write_alone(one)
            for _ in batch:
                self._pending.popleft()

    async def _write(self, batch: list[tuple[Step, asyncio.Future[None]]]) -> None:
        steps = [step for step, _ in batch]
        refused = await self._patiently(lambda: self.store.write_steps(steps))
        for step, done in batch:
            if not done.done():  # else its caller has been cancelled
                _tell(done, step, stale=step in refused)

    async def _write_alone(self, one: tuple[Step, asyncio.Future[None]]) -> None:
        try:
            await self._write([one])
        except Exception as error:  # noqa: BLE001 - the step's caller gets it
            if not one[1].done():
                one[1].set_exception(error)

    async def _patiently(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        while True:
            try:
                return await call()
            except StoreUnavailable:
                await self.clock.wait(asyncio.Event(), REST)


def _tell(done: asyncio.Future[None], step: Step, *, stale: bool) -> None:
    if stale:
        done.set_exception(StaleAttempt(step.execution, step.attempt, step.name))
    else:
        done.set_result(None)
