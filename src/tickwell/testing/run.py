"""A `Run` for tests that call a handler as the function it is."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any

from tickwell.clock import to_millis
from tickwell.domain.execution import Claim, Kind
from tickwell.domain.job import Job
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.domain.trigger.moment import exact
from tickwell.executors.run import Run

MIDSUMMER = datetime(2026, 6, 21, tzinfo=UTC)


class FakeRun(Run):
    """Is what the test says, remembers what it is told, and needs no engine and no store.

    `run.cancel()` asks the handler to stop; `run.snooze()` raises `Snoozed`, as it always does.
    """

    __slots__ = ("told",)

    def __init__(
        self,
        *,
        id: str = "019ee7b1-0000-8000-8000-000000000000",
        job: str = "job",
        attempt: int = 1,
        fire_time: datetime = MIDSUMMER,
        payload: Any = None,
        last_result: Any = None,
    ) -> None:
        instant = to_millis(exact(fire_time, "fire_time"))
        claim = Claim(
            id=id,
            job=Job(id="", name=job, trigger=OnDemand(), target=Call(job)),
            kind=Kind.REQUEST,
            attempt=attempt,
            charged=attempt,
            lost=0,
            returned=0,
            fire_time=instant,
            run_at=instant,
            payload=payload,
            deadline=instant,
            worker="",
            claim_id="",
        )
        notes = _Notes(last_result)
        super().__init__(claim, notes, block=_at_once)
        #: Progress so far: fractions and messages.
        self.told = notes.told


class _Notes:
    def __init__(self, last_result: Any) -> None:
        self.told: list[tuple[float, str]] = []
        self._last_result = last_result

    def progress(self, claim: Claim, fraction: float, message: str) -> None:
        self.told.append((fraction, message))

    async def last_result(self, claim: Claim) -> Any:
        return self._last_result


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine answers that waits for nothing; inside of a loop too."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")
