"""A week of history, written through the store as an engine would have written it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tickwell.cli.demo.shop import PAUSED, QUEUES, answer_of, jobs, temper
from tickwell.domain import change
from tickwell.domain.depth import KEPT, KINDS, Depths, depth_key
from tickwell.domain.execution import Claim, Kind, NewExecution, OutcomeKind, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job, rank
from tickwell.domain.outcome import Outcome, Report, decide
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.tally import PERIODS, Named, Period, Tally, jobs_document, queues_document
from tickwell.domain.trigger import OnDemand
from tickwell.domain.worker import Worker
from tickwell.ids import execution_id, new_id
from tickwell.ports.records import ClaimRequest, Record
from tickwell.ports.store import Store
from tickwell.services.projects.platform import PLATFORM

_BATCH = 500
#: Of the fires of this job, one in so many met a run that was still live.
_OVERLAPS = ("export-to-warehouse", 25)
#: Milliseconds after which a webhook without an answer is given up.
_DEADLINE = 30_000
#: Of a hundred retries outside of an outage, those that fail as well.
_AGAIN = 55
#: Requested runs of each job on demand.
_REQUESTS = 6


async def fill(store: Store, now: int, receiver: str, random: Random) -> int:
    """Write jobs and their history; answer how many executions there are."""
    return await _Week(store, now, random).write(jobs(now, receiver))


@dataclass(slots=True)
class _Week:
    store: Store
    now: int
    random: Random
    claims: int = 0
    #: By period, start, and whether by job or by queue.
    tallies: dict[tuple[Period, int, bool], Named] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Tally))
    )

    async def write(self, definitions: Sequence[Job]) -> int:
        saved = [self._saved(job) for job in definitions]
        runs = [run for job in saved for run in self._runs(job)]
        fired = {job.id: sum(run.job.id == job.id for run in runs) for job in saved}
        entries = [
            Entry(job, replace(first_cursor(job, self.now), runs=fired[job.id])) for job in saved
        ]
        await self.store.add_jobs(entries, self.now - 7 * DAY)
        for start in range(0, len(runs), _BATCH):
            await self.store.add_executions(runs[start : start + _BATCH], self.now, 0)
        await self._overlap(runs)
        await self._run(tuple({job.ability for job in saved}))
        self._count_forgotten(saved)
        for (period, start, of_jobs), sums in self.tallies.items():
            record = Record(
                kind=period.job_kind if of_jobs else period.kind,
                project="default",
                key=period.key(start, "demo"),
                document=(jobs_document if of_jobs else queues_document)(sums),
                expires_at=start + period.kept,
            )
            await self.store.put_record(record, self.now)
        await self._sample_depths(runs)
        for job in saved:
            if job.name in PAUSED:
                by, why = PAUSED[job.name]
                pause = change.pause(by, why, None)
                await self.store.change_jobs("default", [job.id], pause, self.now - 5 * HOUR)
        return len(runs)

    async def _sample_depths(self, runs: Sequence[NewExecution]) -> None:
        """Queue depth: as many as came due at one instant, in each minute and hour."""
        fires: dict[int, list[tuple[str, str, int]]] = {}
        by_job: dict[int, Counter[str]] = {}
        for run in runs:
            fires.setdefault(run.fire_time, []).append(("default", run.job.queue, 1))
            by_job.setdefault(run.fire_time, Counter())[run.job.id] += 1
        together = {fire: Depths.counted(found) for fire, found in fires.items()}
        for fire, depths in together.items():
            depths.note_jobs(by_job[fire], complete=True)
        for period, kind in KINDS.items():
            first = (self.now - min(KEPT[period], 7 * DAY)) // period.length * period.length
            samples = {start: Depths({}) for start in range(first, self.now, period.length)}
            for fire, depths in together.items():
                if sample := samples.get(fire // period.length * period.length):
                    sample.raise_to(depths)
            for start, sample in samples.items():
                record = Record(
                    kind=kind,
                    project=PLATFORM,
                    key=depth_key(period, start),
                    document=sample.to_document(),
                    expires_at=start + KEPT[period],
                )
                await self.store.put_record(record, self.now)

    def _saved(self, job: Job) -> Job:
        at = self.now - temper(job.name).past
        return replace(job, id=new_id(at, self.random), saved_at=at, created_at=at)

    def _runs(self, job: Job) -> list[NewExecution]:
        if isinstance(job.trigger, OnDemand):
            instants = (self.now - self.random.randrange(HOUR, 6 * DAY) for _ in range(_REQUESTS))
            return [_new(job, Kind.REQUEST, new_id(at, self.random), at) for at in sorted(instants)]
        fires = job.trigger.between(job.saved_at, self.now)
        return [_new(job, Kind.FIRE, execution_id(job.id, at), at) for at in fires]

    async def _overlap(self, runs: Sequence[NewExecution]) -> None:
        name, one_in = _OVERLAPS
        ids = [run.id for run in runs if run.job.name == name][::one_in]
        queued = frozenset({State.QUEUED})
        await self.store.settle(ids, queued, State.SKIPPED, Reason.OVERLAP.value, self.now)

    async def _run(self, abilities: tuple[str, ...]) -> None:
        """Every attempt there was, retries too: they are long due."""
        worker = Worker(
            id=new_id(self.now, self.random),
            host="demo",
            pid=1,
            queues=QUEUES,
            abilities=abilities,
            capacity=_BATCH,
            started_at=self.now - 7 * DAY,
        )
        await self.store.beat(worker, self.now)
        more = True
        while more:
            more = (await self.store.promote(self.now, 0, _BATCH)).queued > 0
            claims = await self._claim(worker)
            more = more or bool(claims)
            await self.store.finish([self._ended(claim) for claim in claims], self.now)
        await self.store.beat(worker, self.now, leaving=True)

    async def _claim(self, worker: Worker) -> list[Claim]:
        self.claims += 1
        return await self.store.claim(
            ClaimRequest(
                worker=worker.id,
                claim_id=f"demo-{self.claims}",
                now=self.now,
                lead=0,
                limit=_BATCH,
                queues=QUEUES,
                abilities=frozenset(worker.abilities),
            )
        )

    def _ended(self, claim: Claim) -> Report:
        mood, random = temper(claim.job.name), self.random
        started = claim.run_at + random.randrange(1, 12)
        outage = mood.until < self.now - started < mood.since
        took = max(int(random.lognormvariate(0, 0.35) * mood.takes), 1)
        ended = min(started + took, self.now)
        often = mood.often if claim.attempt == 1 else _AGAIN * (mood.often > 0)
        if outage or random.random() * 100 < often:
            final = mood.error.startswith("HTTP 401")
            slow = "Timeout" in mood.error
            kind = OutcomeKind.TIMED_OUT if slow else OutcomeKind.FAILED
            ended = started + _DEADLINE if slow else ended
            outcome = Outcome(
                kind=kind,
                started_at=started,
                error=mood.error,
                result=_answer(mood.error),
                retry=not final,
            )
        else:
            result = {"status": 200} if claim.payload else {"done": True}
            outcome = Outcome(kind=OutcomeKind.SUCCEEDED, started_at=started, result=result)
        report = decide(claim, outcome, ended)
        self._count(report)
        return report

    def _count_forgotten(self, saved: Sequence[Job]) -> None:
        """What fires often has a short history; the charts know the whole week."""
        for job in saved:
            for fire in job.trigger.between(self.now - 7 * DAY, job.saved_at):
                for tally in self._tallies(job, fire):
                    tally.succeeded += 1

    def _count(self, report: Report) -> None:
        for tally in self._tallies(report.claim.job, report.ended_at):
            tally.count(report)

    def _tallies(self, job: Job, instant: int) -> Iterator[Tally]:
        """What an end at this instant is counted in: old minutes are not kept."""
        for period in PERIODS:
            start = instant // period.length * period.length
            if start + period.kept > self.now:
                yield self.tallies[period, start, False][job.queue]
                yield self.tallies[period, start, True][job.id]


def _answer(error: str) -> dict[str, object] | None:
    """What a webhook was answered that failed so; None where nothing answered."""
    found = answer_of(error)
    if found is None:
        return None
    status, body = found
    return {"status": status, "bytes": len(body), "body": body}


def _new(job: Job, kind: Kind, id: str, at: int) -> NewExecution:
    return NewExecution(
        id=id,
        job=job,
        kind=kind,
        fire_time=at,
        run_at=at,
        rank=rank(at, job.priority),
        overlap=Overlap.ALLOW,
    )
