"""Requested runs and backfills."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import Kind, NewExecution
from tickwell.domain.job import Job
from tickwell.errors import NotFound
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.flow.initial_state import Batch
from tickwell.stores.sql.flow.recording import Recorder, prune_at
from tickwell.stores.sql.flow.same_runs import SameRuns
from tickwell.stores.sql.rows.codec import DELETED, clean, ids_among
from tickwell.stores.sql.session import Session


class Adding:
    """One call of `add_executions`, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache, now: int, horizon: int) -> None:
        self.session = session
        self.now = now
        self.horizon = horizon
        self.flow = Flow(session, cache)
        self.recorder = Recorder(self.flow, now, horizon)

    async def add(self, new: Sequence[NewExecution], *, careful: bool) -> list[str]:
        """Record executions that were asked for; the ids, those that exist already included."""
        await self.flow.locks.jobs(ids_among(one.job.id for one in new))
        heads = self.flow.locks.heads
        for one in new:
            if one.job.id not in heads or heads[one.job.id].state == DELETED:
                raise NotFound("job", one.job.name)
        answers, fresh = await self._known(new)
        same = SameRuns(self.flow, self.now, self.horizon)
        if any(one.unique is not None for one in fresh):
            found = await same.answers(fresh)
            known = dict(zip((one.id for one in fresh), found, strict=True))
            answers = [known.get(id, id) for id in answers]
            fresh = [*same.fresh.values()]
        jobs = {one.job.id: one.job for one in fresh}
        batches = {id: Batch(id, heads[id].holder, []) for id in jobs}
        for one in fresh:
            batches[one.job.id].executions.append(one)
        # What the end of a fire does is read in the definition in force.
        quick = [
            batch for id, batch in batches.items() if not _is_outdated(batch, heads[id].version)
        ]
        await self.recorder.quickly(
            quick, careful=careful, order=fresh, slow_ones=len(quick) < len(batches)
        )
        written = [batch for batch in quick if not batch.slow]
        await self._count(written, jobs)
        done = {batch.job for batch in written}
        await self._slowly([one for one in fresh if one.job.id not in done])
        await same.close()
        await self.flow.close()
        return answers

    async def _count(self, written: list[Batch[str]], jobs: dict[str, Job]) -> None:
        made = []
        for batch in written:
            job, fires = jobs[batch.job], len(_fires(batch))
            count = len(batch.executions) - batch.armed
            made.append((count, batch.holder, prune_at(job, self.now), job.id))
            self.flow.locks.heads[job.id].holder = batch.holder
            if fires and job.trigger.max_runs is not None:
                await self.session.run("count_runs", fires, job.id)
        await self.session.many("count_made", made)

    async def _slowly(self, new: list[NewExecution]) -> None:
        if new:
            jobs = {one.job.id for one in new}
            await self.flow.locks.jobs_with_gates(jobs, (one.gate for one in new))
        for one in new:
            await self.recorder.one(one, counted=False)

    async def _known(self, new: Sequence[NewExecution]) -> tuple[list[str], list[NewExecution]]:
        """The id that answers each request, and those that are to be recorded."""
        asked = [(one.job.id, clean(one.key)) for one in new if one.key is not None]
        rows = await self.session.many("requests", asked)
        known = {(job, key): id for job, key, id in rows}
        answers, fresh = [], []
        for one in new:
            key = one.job.id, clean(one.key)
            if one.key is None or key not in known:
                fresh.append(one)
            if one.key is not None:
                answers.append(known.setdefault(key, one.id))
            else:
                answers.append(one.id)
        return answers, fresh


def _fires(batch: Batch[str]) -> list[NewExecution]:
    return [one for one in batch.executions if one.kind is Kind.FIRE]


def _is_outdated(batch: Batch[str], version: int) -> bool:
    return any(one.job.version != version for one in _fires(batch))
