"""A webhook tried out before its job is saved: sent once, by the rules of every attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tickwell.domain.execution import Claim, Kind
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.domain.policy import RETURN_BUDGET
from tickwell.errors import InvalidInput, NotRunning
from tickwell.ids import new_id
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.operations.senders import require_own_secrets
from tickwell.services.operations.tools import Tools


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

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @needs(Permission.EDIT)
    async def send(self, actor: Actor, job: Job) -> Trial:
        """Send what the first attempt of this job would send now."""
        actor.require(Permission.OPERATE)
        if not isinstance(job.target, Http):
            raise InvalidInput(
                "only a webhook can be tried out",
                field="target",
                hint="Save the job and trigger it",
            )
        require_own_secrets(actor, [job])
        if self.tools.sender is None:
            raise NotRunning("this process sends no webhooks")
        clock = self.tools.clock
        own = replace(job, id=new_id(clock.now(), self.tools.random), project=actor.project)
        await self.tools.limiter.check_runs(actor, 1, own.payload)
        await self.tools.jobs.admit([own])
        after = {"method": job.target.method, "url": job.target.url}
        await self.tools.auditor.record(actor, "job.try", "jobs", None, after)
        began = clock.monotonic()
        outcome = await self.tools.sender.run(_claim(own, clock.now()))
        return _trial(outcome, (clock.monotonic() - began) * 1000)

    async def close(self) -> None:
        """Hang up."""
        if self.tools.sender is not None:
            await self.tools.sender.close()


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


def _trial(outcome: Outcome, took: float) -> Trial:
    found: Mapping[str, Any] = outcome.result if isinstance(outcome.result, dict) else {}
    return Trial(took=took, error=outcome.error, **found)
