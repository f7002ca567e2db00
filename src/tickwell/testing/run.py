"""A `Run` for tests that call a handler as the function it is."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from datetime import UTC, datetime
from inspect import CO_COROUTINE, currentframe
from typing import Any

from tickwell.clock import to_millis
from tickwell.domain.execution import Claim, Kind
from tickwell.domain.job import Job
from tickwell.domain.step import CHECKPOINT, Step, Wait
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.domain.trigger.moment import exact
from tickwell.executors.run import Run

MIDSUMMER = datetime(2026, 6, 21, tzinfo=UTC)


class FakeRun(Run):
    """Is what the test says, remembers what it is told, and needs no engine and no store.

    `run.cancel()` asks the handler to stop; `run.snooze()` raises `Snoozed`, as it always does.
    `answers` are what `run.wait_for` returns, or a `TimeoutError`; without one it snoozes.
    `steps` are those that earlier attempts have done, by name; `run.steps` has the new ones too.
    """

    __slots__ = ("_kept", "told")

    def __init__(
        self,
        *,
        id: str = "019ee7b1-0000-8000-8000-000000000000",
        job: str = "job",
        attempt: int = 1,
        fire_time: datetime = MIDSUMMER,
        payload: Any = None,
        last_result: Any = None,
        steps: Mapping[str, Any] | None = None,
        last_checkpoint: Any = None,
        answers: Mapping[str, Any] | None = None,
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
        notes = _Notes(last_result, {**(steps or {}), CHECKPOINT: last_checkpoint})
        notes.answers = dict(answers or {})
        super().__init__(claim, notes, block=_at_once)
        #: Progress so far: fractions and messages.
        self.told = notes.told
        self._kept = notes.kept

    @property
    def steps(self) -> dict[str, Any]:
        """What each step returned, by name."""
        return {name: value for name, value in self._kept.items() if name != CHECKPOINT}

    @property
    def saved_checkpoint(self) -> Any:
        """The newest checkpoint."""
        return self._kept[CHECKPOINT]

    def _is_awaited(self) -> bool:
        # A plain handler may be called by an async test, so it is asked what calls the step.
        here = currentframe()
        step = here.f_back if here else None
        frame = step.f_back if step else None
        while frame is not None and frame.f_code.co_name.startswith("<"):
            frame = frame.f_back
        return frame is not None and bool(frame.f_code.co_flags & CO_COROUTINE)


class _Notes:
    def __init__(self, last_result: Any, kept: dict[str, Any]) -> None:
        self.told: list[tuple[float, str]] = []
        self.kept = kept
        self.answers: dict[str, Any] = {}
        self._last_result = last_result

    def progress(self, claim: Claim, fraction: float, message: str) -> None:
        self.told.append((fraction, message))

    async def last_result(self, claim: Claim) -> Any:
        return self._last_result

    async def read_steps(self, claim: Claim) -> list[Step]:
        return [
            Step(execution=claim.id, attempt=1, name=name, value=value, at=0)
            for name, value in self.kept.items()
        ]

    async def wait_for(self, claim: Claim, name: str, expires: int) -> tuple[Wait, int]:
        if name not in self.answers:
            return Wait(name=name, expires_at=expires, ended_at=None), expires
        answer = self.answers[name]
        is_expired = isinstance(answer, TimeoutError)
        wait = Wait(name=name, expires_at=0, ended_at=0, is_expired=is_expired, answer=answer)
        return wait, 0

    async def answer_url(self, claim: Claim, name: str, expires: int) -> str:
        return f"https://example.com/api/v1/answers/{name}"

    async def write_step(self, claim: Claim, name: str, value: Any, *, is_final: bool) -> None:
        self.kept[name] = value


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine answers that waits for nothing; inside of a loop too."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")
