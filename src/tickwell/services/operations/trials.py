"""A webhook tried out before its job is saved: sent once, by the rules of every attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.domain.policy import RETURN_BUDGET
from tickwell.domain.trigger.duration import format_duration
from tickwell.errors import InvalidInput, NotRunning
from tickwell.ids import new_id
from tickwell.ports.executor import Executor
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.operations.context import OperationContext
from tickwell.services.operations.in_flight_limit import InFlightLimit
from tickwell.services.operations.job_checks import require_own_secrets
from tickwell.services.redaction.masking import masked_url, unmasked

#: Seconds that one may take, whatever the timeout of its job: somebody sits and waits for it.
LONGEST = 30.0
#: Of one project at once: each holds a request and a connection of this process.
MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of it; no execution is recorded."""

    #: Milliseconds.
    took: float
    error: str | None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    #: How long the whole body is, and whether it was longer than what is read of one.
    bytes: int = 0
    cut: bool = False


class TrialOperations:
    """Sends test requests for the actor's project, with its secrets."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context
        self._in_flight = InFlightLimit(MOST, "test requests", retry_after=LONGEST / MOST)

    @needs(Permission.EDIT)
    async def send(self, actor: Actor, job: Job, saved: Job | None = None) -> Trial:
        """Send what the first attempt of this job would send now, and wait for `LONGEST`.

        Saved: the job as it is stored, whose credentials stand for the masks in this one.
        """
        actor.require(Permission.OPERATE)
        job = unmasked(job, saved)
        if not isinstance(job.target, Http):
            raise InvalidInput(
                "only a webhook can be tried out",
                field="target",
                hint="Save the job and trigger it",
            )
        require_own_secrets(actor, [job])
        if self.context.sender is None:
            raise NotRunning("this process sends no webhooks")
        self._in_flight.enter(actor.project)
        try:
            return await self._send(actor, job, job.target, self.context.sender)
        finally:
            self._in_flight.leave(actor.project)

    async def _send(self, actor: Actor, job: Job, target: Http, sender: Executor) -> Trial:
        clock = self.context.clock
        own = replace(job, id=new_id(clock.now(), self.context.random), project=actor.project)
        await self.context.limiter.check_runs(actor, 1, own.payload)
        await self.context.jobs.admit([own])
        after = {"method": target.method, "url": masked_url(target.url)}
        await self.context.auditor.record(actor, "job.try", "jobs", None, after)
        began = clock.monotonic()
        try:
            # Around the line for a place at the host, too, which no timeout of a job counts.
            async with asyncio.timeout(LONGEST):
                outcome = await sender.run(_claim(own, clock.now()))
        except TimeoutError:
            outcome = Outcome(kind=OutcomeKind.TIMED_OUT, error=_too_long(target))
        return _trial(outcome, (clock.monotonic() - began) * 1000)

    async def close(self) -> None:
        """Hang up."""
        if self.context.sender is not None:
            await self.context.sender.close()


def _claim(job: Job, now: int) -> Claim:
    return Claim(
        id=job.id,
        job=job,
        kind=Kind.REQUEST,
        attempt=1,
        charged=1,
        lost=0,
        returned=RETURN_BUDGET,  # it cannot come again later
        fire_time=now,
        run_at=now,
        payload=job.payload,
        deadline=now + job.target.timeout if isinstance(job.target, Http) else now,
        worker="",
        claim_id=job.id,
    )


def _too_long(target: Http) -> str:
    text = f"there was no answer in full within {LONGEST:g} s, the most that a test request gets"
    if target.timeout <= LONGEST * 1000:
        return text
    return f"{text}; saved, the job waits for {format_duration(target.timeout)}"


def _trial(outcome: Outcome, took: float) -> Trial:
    found: Mapping[str, Any] = outcome.result if isinstance(outcome.result, dict) else {}
    return Trial(took=took, error=outcome.error, **found)
