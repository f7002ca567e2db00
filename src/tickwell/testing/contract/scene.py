"""A store with helpers for tests: what planners, workers and users do, in short calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tickwell.domain.change import Changed, Changer
from tickwell.domain.execution import (
    Claim,
    Execution,
    NewExecution,
    OutcomeKind,
    RangeSkip,
    State,
)
from tickwell.domain.job import Cursor, Entry, Job
from tickwell.domain.outcome import Outcome, Report, decide
from tickwell.domain.planning import first_cursor, plan
from tickwell.domain.worker import Pulse
from tickwell.ids import execution_id
from tickwell.ports.records import ClaimRequest, ExecutionFilter, Finished, Fired, Promoted
from tickwell.ports.store import PlanMaker, Store
from tickwell.testing.contract.builders import T0, a_job, a_worker

ABILITIES = frozenset({"call:work"})


def planner(now: int, horizon: int = 0) -> PlanMaker:
    """The planner's policy at an instant, as a store calls it."""
    return lambda job, cursor: plan(job, cursor, now, horizon)


def report(
    claim: Claim, kind: OutcomeKind, now: int, *, started: bool = True, **outcome: Any
) -> Report:
    """What a worker reports of an attempt that it started when it was due."""
    started_at = min(now, claim.run_at) if started else None
    return decide(claim, Outcome(kind=kind, started_at=started_at, **outcome), now)


@dataclass(slots=True)
class Scene:
    """One handle on a store."""

    store: Store
    _claims: Iterable[int] = field(default_factory=lambda: count(1))

    async def job(self, name: str | None = None, *, now: int = T0, **fields: Any) -> Job:
        """Add a job, by default one that fires every minute."""
        job = a_job(name, **fields)
        await self.add(job, now=now)
        return job

    async def add(self, *jobs: Job, now: int = T0) -> list[Entry]:
        """Add jobs as they are."""
        return await self.store.add_jobs([Entry(job, first_cursor(job, now)) for job in jobs], now)

    async def fire(
        self, now: int, *, horizon: int = 0, limit: int = 1000, round_robin: bool = False
    ) -> Fired:
        """Fire what is due."""
        made = planner(now, horizon)
        return await self.store.fire_due(now, horizon, limit, made, round_robin=round_robin)

    async def promote(self, now: int, *, horizon: int = 0, limit: int = 1000) -> Promoted:
        """Promote what is due."""
        return await self.store.promote(now, horizon, limit)

    async def run(self, *new: NewExecution, now: int = T0, horizon: int = 0) -> list[str]:
        """Ask for runs."""
        return await self.store.add_executions(new, now, horizon)

    async def beat(self, worker: str = "w1", *, now: int = T0, leaving: bool = False) -> Pulse:
        """Beat as this worker."""
        return await self.store.beat(a_worker(worker), now, leaving=leaving)

    def request(self, now: int, worker: str = "w1", **fields: Any) -> ClaimRequest:
        """A new claim."""
        request: dict[str, Any] = {
            "claim_id": f"{worker}-{next(iter(self._claims))}",
            "lead": 0,
            "limit": 1000,
            "queues": ("default",),
            "abilities": ABILITIES,
        }
        return ClaimRequest(worker=worker, now=now, **(request | fields))

    async def claim(self, now: int, worker: str = "w1", **fields: Any) -> list[Claim]:
        """Beat, then claim all there is."""
        await self.beat(worker, now=now)
        return await self.store.claim(self.request(now, worker, **fields))

    async def claim_one(self, now: int, worker: str = "w1", **fields: Any) -> Claim:
        """Claim, and expect exactly one."""
        [claim] = await self.claim(now, worker, **fields)
        return claim

    async def finish(
        self, claims: Claim | Sequence[Claim], kind: OutcomeKind, now: int, **outcome: Any
    ) -> Finished:
        """Report that attempts ended this way."""
        several = [claims] if isinstance(claims, Claim) else claims
        return await self.store.finish(
            [report(claim, kind, now, **outcome) for claim in several], now
        )

    async def sweep(self, worker: str, now: int, **outcome: Any) -> Finished:
        """Declare the worker lost and recover what it held, as one step of a reaper does."""
        known = {one.worker.id: one.beat for one in await self.store.list_workers()}
        assert await self.store.declare_lost(worker, known.get(worker, 0), now)  # noqa: S101
        orphans = await self.store.orphans(now, 100)
        return await self.finish(orphans, OutcomeKind.LOST, now, started=False, **outcome)

    async def succeed(self, claims: Claim | Sequence[Claim], now: int) -> Finished:
        """Report success."""
        return await self.finish(claims, OutcomeKind.SUCCEEDED, now)

    async def fail(self, claims: Claim | Sequence[Claim], now: int, **outcome: Any) -> Finished:
        """Report failure; by default the retry policy decides what follows."""
        return await self.finish(claims, OutcomeKind.FAILED, now, **outcome)

    async def change(self, job: Job, change: Changer, now: int) -> Changed:
        """Edit, pause, resume or delete a job."""
        [changed] = await self.store.change_jobs(job.project, [job.id], change, now)
        return changed

    async def settle(
        self, ids: Sequence[str], to: State, now: int, *, states: Collection[State] | None = None
    ) -> list[str]:
        """Move what is pending."""
        pending = {State.WAITING, State.BLOCKED, State.QUEUED, State.PARKED}
        return await self.store.settle(ids, states or pending, to, "because", now)

    async def cursor(self, job: Job) -> Cursor:
        """The job's cursor as it is now."""
        [entry] = await self.store.get_jobs(job.project, [job.id])
        return entry.cursor

    async def execution(self, where: str | Claim, project: str = "default") -> Execution:
        """One execution with its attempts."""
        id = where.id if isinstance(where, Claim) else where
        found = await self.store.get_execution(project, id)
        if found is None:
            raise LookupError(id)
        return found

    async def at(self, job: Job, fire_time: int) -> Execution:
        """The execution of the job's slot."""
        return await self.execution(execution_id(job.id, fire_time), job.project)

    async def executions(self, job: Job | None = None) -> list[Execution]:
        """All executions, of the job if one is given, oldest first."""
        where = ExecutionFilter(job_id=job.id if job else None)
        page = await self.store.list_executions(where, limit=100_000)
        return page.items[::-1]

    async def states(self, job: Job | None = None) -> list[State]:
        """Their states."""
        return [execution.state for execution in await self.executions(job)]

    async def fire_times(self, job: Job, *states: State) -> list[int]:
        """Fire times of the job's executions, in these states if any are given."""
        found = await self.executions(job)
        return [one.fire_time for one in found if not states or one.state in states]

    async def skips(self, job: Job) -> list[RangeSkip]:
        """All range skips of the job."""
        return await self.store.list_skips(job.id, 0, 10**15)
