"""Takes check-ins: claims the fire time that one answers, and finishes it.

A claim goes to one caller only, a report counts once, and what is past its time to live cannot be
claimed. So of two pings one answers a fire time, and of a ping and the end of the grace one wins.
What is started is held by a name: that of the run, or none. A later ping of the same name finds it
by repeating the claim, also when a process died between the claim and the report.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count
from uuid import NAMESPACE_URL, uuid5

from tickwell.domain.ability import EXTERNAL
from tickwell.domain.event import AttemptsFinished, Events
from tickwell.domain.execution import (
    Claim,
    Execution,
    Kind,
    NewExecution,
    OutcomeKind,
    Start,
    State,
)
from tickwell.domain.external import CHECK_INS, External, outside
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job, JobState, rank
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.planning import new_execution
from tickwell.domain.policy import DAY, MINUTE
from tickwell.errors import Conflict
from tickwell.executors.text import shown
from tickwell.ids import Random, execution_id, new_id
from tickwell.ports.records import ClaimRequest, ExecutionFilter, Record
from tickwell.ports.store import Store
from tickwell.services.jobs.fire_times import next_fire
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.monitors.check_in import CheckIn, Signal
from tickwell.services.time import Time

#: Milliseconds before its fire time that a check-in may come for it, at most: clocks differ.
EARLY = MINUTE
#: The last log of each monitor that came by itself, and how long it is kept.
LOG, LOG_KEPT = "check_in_log", 30 * DAY
#: Milliseconds between two heartbeats that this process writes for the owner of outside runs.
_BEAT = 10_000
#: Open fire times of one monitor that are looked at, and how often a ping tries.
_OPEN, _TRIES = 50, 20


class CheckIns:
    """Records what outside jobs report."""

    def __init__(
        self,
        store: Store,
        clock: Time,
        random: Random,
        *,
        wake: Callable[[], None],
        events: Events,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._wake = wake
        self._events = events
        self._owner = ""
        self._beat_at = 0

    async def find(self, project: str, id: str) -> Entry | None:
        """The monitor with this id; None: there is none."""
        entry = (await jobs_by_id(self._store, project, [id])).get(id)
        if entry is None or entry.cursor.state is JobState.DELETED:
            return None
        return entry if isinstance(entry.job.target, External) else None

    async def take(self, entry: Entry, check_in: CheckIn) -> None:
        """Record it: as the start or the end of a run, or as a log."""
        now, job = self._clock.now(), entry.job
        if check_in.signal is Signal.LOG:
            await self._keep_log(job, check_in, now)
            return
        name = str(uuid5(NAMESPACE_URL, f"{job.id}/{check_in.run}"))
        passed = set[str]()
        for _ in range(_TRIES):
            claim = await self._open(entry, check_in, name, passed, now)
            if claim is not None and await self._record(claim, check_in, now):
                return
            found = await self.find(job.project, job.id)
            if found is None:
                return  # deleted meanwhile
            entry = found
        raise Conflict(f"other check-ins of {job.name} came at the same time; send it again")

    async def _record(self, claim: Claim, check_in: CheckIn, now: int) -> bool:
        """Write the start or the end; False: another ping was faster."""
        if check_in.signal is Signal.START:
            if claim.started_at is None:
                start = Start(id=claim.id, attempt=claim.attempt, started_at=now)
                return bool(await self._store.record_starts([start]))
            return True
        report = decide(claim, _outcome(claim, check_in, now), now)
        if (await self._store.finish([report], now)).refused:
            return False
        self._events.emit(AttemptsFinished(reports=[report]))
        self._wake()
        return True

    async def _open(
        self, entry: Entry, check_in: CheckIn, name: str, passed: set[str], now: int
    ) -> Claim | None:
        """What runs under this name, or else a fire time, or else a run of its own.

        `passed` has what could not be claimed: answered by others, or past its grace.
        """
        job = entry.job
        where = ExecutionFilter(
            project=job.project,
            job_id=job.id,
            states=frozenset({State.QUEUED, State.RUNNING}),
            due_before=now + EARLY + 1,
        )
        found = (await self._store.list_executions(where, limit=_OPEN)).items
        slot = _newest(found, passed)
        if slot is not None:
            claim = await self._claim(slot, name, now)
            if claim is None:
                passed.add(slot)
            return claim
        if found:
            held = await self._claim(found[0].id, name, now)
            if held is not None:
                return held
        if check_in.signal is not Signal.START:
            # Of its own: one that comes at the same time has another run.
            name = new_id(now, self._random)
        return await self._add(entry, name, passed, now)

    async def _add(self, entry: Entry, name: str, passed: set[str], now: int) -> Claim | None:
        new = _early(entry, passed, now) or self._extra(entry.job, now)
        await self._store.add_executions([new], now, 0)
        claim = await self._claim(new.id, name, now)
        if claim is None:
            passed.add(new.id)
        elif claim.id != new.id and new.kind is Kind.REQUEST:
            why = "another check-in started the run"
            await self._store.settle([new.id], {State.QUEUED}, State.CANCELLED, why, now)
        return claim

    def _extra(self, job: Job, now: int) -> NewExecution:
        """A run that no fire time expects."""
        return new_execution(
            job, now, id=new_id(now, self._random), kind=Kind.REQUEST, overlap=Overlap.ALLOW
        )

    async def _claim(self, id: str, name: str, now: int) -> Claim | None:
        request = ClaimRequest(
            worker=await self._beat(now),
            claim_id=name,
            now=now,
            lead=EARLY,
            limit=1,
            queues=(CHECK_INS,),
            abilities=frozenset({EXTERNAL}),
            ids=(id,),
            repeated=True,
        )
        claims = await self._store.claim(request)
        return claims[0] if claims else None

    async def _beat(self, now: int) -> str:
        """The id of the owner of outside runs; reapers keep it alive between pings."""
        if self._owner and abs(now - self._beat_at) < _BEAT:
            return self._owner
        for number in count(1):
            pulse = await self._store.beat(outside(number, now), now)
            if not pulse.lost:
                self._owner, self._beat_at = pulse.worker, now
                break
        return self._owner

    async def _keep_log(self, job: Job, check_in: CheckIn, now: int) -> None:
        record = Record(
            kind=LOG,
            project=job.project,
            key=job.id,
            document={"at": now, "log": shown(check_in.log)},
            expires_at=now + LOG_KEPT,
        )
        await self._store.put_record(record, now)


def _newest(found: Collection[Execution], passed: Collection[str]) -> str | None:
    """The open fire time that was due last; a check-in does not mean an older one."""
    queued = [each for each in found if each.state is State.QUEUED and each.id not in passed]
    newest = max(queued, key=lambda each: (each.run_at, each.id), default=None)
    return None if newest is None else newest.id


def _early(entry: Entry, passed: Collection[str], now: int) -> NewExecution | None:
    """The next fire time, before a planner has recorded it; None: it is too far away.

    Where the period counts from the last check-in, this one is the next, however early.
    """
    job, cursor = entry.job, entry.cursor
    fire = next_fire(entry) if cursor.state is JobState.ACTIVE else None
    if fire is None:
        return None
    early = min(EARLY, job.expires or EARLY, max(fire - cursor.after, 0) // 2)
    id = execution_id(job.id, fire)
    if id in passed or not (job.trigger.follows_finish or fire - now <= early):
        return None
    new = new_execution(job, fire, id=id, kind=Kind.FIRE, overlap=Overlap.ALLOW)
    new.run_at, new.rank = now, rank(now, job.priority)
    return new


def _outcome(claim: Claim, check_in: CheckIn, now: int) -> Outcome:
    started_at = now if claim.started_at is None else min(claim.started_at, now)
    log, code = shown(check_in.log) or None, check_in.exit_code
    if check_in.signal is Signal.SUCCESS:
        return Outcome(kind=OutcomeKind.SUCCEEDED, started_at=started_at, result=log)
    said = "it reported a failure" if code is None else f"exit code {code}"
    return Outcome(
        kind=OutcomeKind.FAILED,
        started_at=started_at,
        error=said,
        result=log,
        retry=False,
        why_final="what runs outside is not retried from here",
    )
