"""Executions: the use cases that library, command line and API share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tickwell.domain.coercion import check_key
from tickwell.domain.execution import ENDED, Claim, Execution, Kind, NewExecution, State
from tickwell.domain.fairness import Fairness
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job, JobState, rank
from tickwell.domain.note import OUTPUT, PROGRESS, Output, Progress, output_key, outputs_of
from tickwell.domain.payload import checked
from tickwell.domain.planning import new_execution
from tickwell.domain.step import WAIT, Step, Wait, wait_of
from tickwell.domain.unique import Uniqueness, ruled, uniqueness_of
from tickwell.errors import (
    InvalidInput,
    NotFound,
    StoreError,
    TickwellError,
    WrongState,
)
from tickwell.ids import Random, execution_id, new_id
from tickwell.observe.traces import current_traceparent
from tickwell.ports.records import ExecutionFilter, Page, Record
from tickwell.ports.store import RecordStore, StepStore
from tickwell.services.cooperative import cooperatively
from tickwell.services.insights.cancelled_counts import OnCancelled, count_cancelled
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.slots.slots import Answer, Slots, SlotStore
from tickwell.services.time import Moment, Time, instant_of

#: The kind of the records, by the execution's id.
TRIGGER_SPAN = "trigger_span"


async def keep_trigger(store: RecordStore, new: NewExecution, now: int) -> None:
    """Keep the current span of the caller, if there is one; the run does not depend on it."""
    traceparent = current_traceparent()
    if traceparent is None:
        return
    retention = new.job.retention
    record = Record(
        kind=TRIGGER_SPAN,
        project=new.job.project,
        key=new.id,
        document={"traceparent": traceparent},
        expires_at=new.run_at + max(retention.age, retention.dead),
    )
    try:
        await store.put_record(record, now)
    except StoreError:
        return  # the run itself meets it too, and says so


async def read_trigger(store: RecordStore, claim: Claim, now: int) -> str | None:
    """The span that requested an execution, if one did and was kept."""
    if claim.kind is not Kind.REQUEST:
        return None
    try:
        record = await store.get_record(TRIGGER_SPAN, claim.job.project, claim.id, now)
    except StoreError:
        return None
    return None if record is None else str(record.document["traceparent"])


#: Raises where a job is not to be run.
Admit = Callable[[Job], None]
#: Executions that one call to the store adds.
_BATCH = 500
#: Attempts whose output one call reads.
_TAILED = 50


@dataclass(slots=True, kw_only=True)
class Backfill:
    """What a backfill did."""

    #: The executions that will run now, oldest slot first; a dry run makes none.
    ids: list[str] = field(default_factory=list)
    #: How many slots are run, or would be.
    count: int = 0
    #: Slots that ran before, or are live.
    left_alone: int = 0
    #: Where to go on when the range had too many slots; None: all were looked at.
    next: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """Lines of an execution from one on, and the attempt and the line to read on from."""

    outputs: Sequence[Output]
    attempt: int
    line: int
    #: The execution has ended, and there is nothing more to read.
    ended: bool


class ExecutionStore(SlotStore, StepStore, Protocol):
    """What executions are kept in."""


class Executions:
    """Asks for runs, takes them back and reads them. A job's key is its name or id."""

    def __init__(
        self, store: ExecutionStore, clock: Time, random: Random, wake: Callable[[], None]
    ) -> None:
        self.store = store
        self.clock = clock
        self.random = random
        #: Called after a write, so that the loops of this process look at once.
        self.wake = wake
        #: Refuses a payload that the job's target could not be called with, where that is known.
        self.check: Callable[[Job, Any], None] = lambda _job, _payload: None
        #: Called with the executions that were recorded.
        self.on_added: Callable[[Sequence[NewExecution]], None] = lambda _new: None
        #: Called with a project and the ids of its dead executions that run again.
        self.on_revived: Callable[[str, Sequence[str]], None] = lambda _project, _ids: None
        #: Called with a project and how many executions of its queues were cancelled while pending.
        self.on_cancelled: OnCancelled = lambda _project, _queues: None
        self.slots = Slots(store, clock)
        self.fairness = Fairness()

    async def trigger(
        self,
        project: str,
        job_key: str,
        *,
        payload: Any = None,
        run_at: Moment | None = None,
        key: str | None = None,
        overlap: Overlap = Overlap.ALLOW,
        unique: Uniqueness | None = None,
        admit: Admit | None = None,
    ) -> Execution:
        """Run a job, now or at an instant; the same idempotency key answers with the same run.

        The same key with another payload is a conflict. What is said here of requests for the same
        run goes before what the job says.
        """
        _, execution = await self.request(
            project,
            job_key,
            payload=payload,
            run_at=run_at,
            key=key,
            overlap=overlap,
            unique=unique,
            admit=admit,
        )
        return execution

    async def request(
        self,
        project: str,
        job_key: str,
        *,
        payload: Any = None,
        run_at: Moment | None = None,
        key: str | None = None,
        overlap: Overlap = Overlap.ALLOW,
        unique: Uniqueness | None = None,
        admit: Admit | None = None,
    ) -> tuple[Job, Execution]:
        """As `trigger`, with the job that was found by the key."""
        check_key(key)
        entry, now = await self._entry(project, job_key), self.clock.now()
        if admit is not None:
            admit(entry.job)
        self.check(entry.job, entry.job.payload if payload is None else payload)
        new = new_execution(
            entry.job,
            now if run_at is None else max(instant_of(run_at, now), now),
            id=new_id(now, self.random),
            kind=Kind.REQUEST,
            overlap=overlap,
            payload=checked(payload),
        )
        new.key = key
        rule = uniqueness_of(entry.job, unique)
        if rule is not None:
            new = ruled(new, rule, now, at_once=run_at is None)
        await keep_trigger(self.store, new, now)
        (id,) = await self._add([new], now)
        try:
            found = await self.get(project, id)
        except StoreError:
            if id != new.id:
                raise
            return entry.job, as_recorded(new, now)
        found.is_new = id == new.id
        if not found.is_new and (rule is None or (new.key is not None and found.key == new.key)):
            new.require_same_payload(found.id, found.payload)
        return entry.job, found

    async def backfill(
        self,
        project: str,
        key: str,
        since: int,
        until: int,
        *,
        force: bool = False,
        dry_run: bool = False,
        begin: Callable[[int], Awaitable[None]] | None = None,
    ) -> Backfill:
        """Run the slots in [since, until) that have not run, each under its own id.

        One that ran is left alone; forced, it runs again under a new id. What is to come is not
        touched. Fire times from before the job existed are those of its first version. A dry run
        only counts. `begin` is asked before any is added, and may refuse so many.
        """
        entry, now = await self._entry(project, key), self.clock.now()
        if since > now:
            raise InvalidInput(
                "the range is still to come", field="since", hint="Choose a past one"
            )
        end = min(until, now + 1)
        page = await self.slots.read(project, entry.job.id, since, end, unborn=True)
        done = Backfill(next=page.next)
        new = []
        async for slot in cooperatively(page.items):
            if slot.is_open:
                new.append(self._again(entry.job, slot.fire_time, now))
            elif force and slot.has_run:
                new.append(self._anew(entry.job, slot.fire_time, now))
            elif slot.answer in {Answer.EXECUTED, Answer.PRUNED}:
                done.left_alone += 1
        if not dry_run:
            if begin is not None:
                await begin(len(new))
            done.ids = [*await self._add(new, now)]
        done.count = len(new if dry_run else done.ids)
        return done

    async def cancel(self, project: str, ids: Sequence[str]) -> Sequence[str]:
        """End what is pending, ask the worker of what is running; answer which were live."""
        now = self.clock.now()
        found = await self.store.request_cancel(project, ids, now)
        if ids and not found:
            execution = await self.get(project, ids[0])
            raise WrongState(
                "execution",
                execution.id,
                execution.state,
                "a live one can be cancelled",
            )
        self.wake()
        await count_cancelled(self.store, project, found, now, self.on_cancelled)
        return found

    async def revive(self, project: str, ids: Sequence[str]) -> Sequence[str]:
        """Dead executions run again under their ids, with a new budget; answer which."""
        revived = await self.store.revive(project, ids, self.clock.now())
        if ids and not revived:
            await self._dead(project, ids[0])
        self.wake()
        self.on_revived(project, revived)
        return revived

    async def revive_edited(
        self, project: str, id: str, payload: Any, admit: Admit | None = None
    ) -> Execution:
        """Repeat a dead execution with another payload: a new one that says what it repeats."""
        dead = await self._dead(project, id)
        (added,) = await self.repeat(project, [dead], payload, admit)
        return await self.get(project, added)

    async def repeat(
        self,
        project: str,
        dead: Sequence[Execution],
        payload: Any,
        admit: Admit | None = None,
        refused: dict[str, str] | None = None,
    ) -> Sequence[str]:
        """Repeat them with another payload; the ids of the new ones.

        A job that cannot be run so is noted in `refused`, by its name and why, and its dead letters
        are left out; without that it is an error.
        """
        own, now = checked(payload), self.clock.now()
        jobs: dict[str, Job] = {}
        ids = dict.fromkeys(each.job_id for each in dead)
        known = await jobs_by_id(self.store, project, ids)
        for id in ids:
            entry = known.get(id)
            try:
                jobs[id] = self._admitted(id, entry, payload, admit)
            except TickwellError as error:
                if refused is None:
                    raise
                refused[id if entry is None else entry.job.name] = str(error)
        new = []
        for each in dead:
            if each.job_id in jobs:
                one = self._anew(jobs[each.job_id], each.fire_time, now, own)
                one.revived_from = each.id
                new.append(one)
        return await self._add(new, now)

    def _admitted(self, id: str, entry: Entry | None, payload: Any, admit: Admit | None) -> Job:
        if entry is None or entry.cursor.state is JobState.DELETED:
            raise NotFound("job", id if entry is None else entry.job.name)
        if admit is not None:
            admit(entry.job)
        self.check(entry.job, payload)
        return entry.job

    async def get(self, project: str, id: str) -> Execution:
        """One execution with its attempts."""
        execution = await self.store.get_execution(project, id)
        if execution is None:
            raise NotFound("execution", id)
        return execution

    async def progress(self, project: str, id: str) -> Progress | None:
        """How far an attempt under way is, by its own account."""
        return await read_progress(self.store, project, id, self.clock.now())

    async def output(self, project: str, id: str) -> Sequence[Output]:
        """What the attempts of an execution printed and logged."""
        return await read_output(self.store, project, id, self.clock.now())

    async def steps(self, project: str, id: str) -> Sequence[Step]:
        """What an execution has done and does not do again, and its checkpoint."""
        return await self.store.list_steps(project, id)

    async def answer(self, project: str, id: str, name: str, value: Any, by: str) -> None:
        """Answer what an execution waits for; it goes on at once. Once for each question."""
        checked(value)
        now, asked = self.clock.now(), await self._wait(project, id, name)
        if asked.is_open and now < asked.expires_at:
            answer = {"expires_at": asked.expires_at, "answer": value, "by": by}
            if await self.store.answer_step(project, id, f"{WAIT}{name}", answer, now):
                self.wake()
                return
            asked = await self._wait(project, id, name)
        state = "expired"
        if not asked.is_open and not asked.is_expired:
            state = "answered"
        elif asked.is_open and now < asked.expires_at:
            state = "no longer open: its execution has ended"
        raise WrongState("question", name, state, "an open one can be answered, once")

    async def _wait(self, project: str, id: str, name: str) -> Wait:
        for step in await self.store.list_steps(project, id):
            if step.name == f"{WAIT}{name}":
                return wait_of(step)
        raise NotFound("question", name)

    async def tail(self, project: str, id: str, attempt: int = 1, line: int = 0) -> Tail:
        """The lines of an execution from one on, and where to read on."""
        execution, now = await self.get(project, id), self.clock.now()
        outputs, end = [], (max(attempt, 1), max(line, 0))
        beyond = end[0] + _TAILED  # an execution may have thousands of attempts
        for number in range(end[0], min(execution.attempt + 1, beyond)):
            found = await read_attempt_output(self.store, project, execution.id, number, now)
            if found is not None:
                new = found.after(end[1] if number == end[0] else 0)
                outputs += [new] if new.lines else []
                end = number, max(found.end, end[1] if number == end[0] else 0)
        if beyond <= execution.attempt:
            return Tail(outputs=outputs, attempt=beyond, line=0, ended=False)
        return Tail(outputs=outputs, attempt=end[0], line=end[1], ended=execution.state in ENDED)

    async def list(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        """Executions, newest first."""
        return await self.store.list_executions(where, cursor, limit)

    async def _entry(self, project: str, key: str) -> Entry:
        found = await self.store.get_jobs(project, [key])
        if not found or found[0].cursor.state is JobState.DELETED:
            raise NotFound("job", key)
        return found[0]

    async def _dead(self, project: str, id: str) -> Execution:
        execution = await self.get(project, id)
        if execution.state is not State.DEAD:
            raise WrongState("execution", id, execution.state, "a dead one can be revived")
        return execution

    async def _add(self, new: Sequence[NewExecution], now: int) -> Sequence[str]:
        for each in new:
            each.rank += self.fairness.delay(each.job.project, now)
        ids: list[str] = []
        for start in range(0, len(new), _BATCH):
            ids += await self.store.add_executions(new[start : start + _BATCH], now, 0)
        if new:
            self.wake()
            known = {*ids}  # a key that was known answers with the id of its run
            self.on_added([each for each in new if each.id in known])
        return ids

    def _again(self, job: Job, fire_time: int, now: int) -> NewExecution:
        """A slot that has not run, under its own id."""
        id = execution_id(job.id, fire_time)
        new = new_execution(job, fire_time, id=id, kind=Kind.FIRE, overlap=_in_turn(job))
        new.backfill = True
        return _due(new, now)

    def _anew(self, job: Job, fire_time: int, now: int, payload: Any = None) -> NewExecution:
        """A fire time that ran before, under an id of its own."""
        id = new_id(now, self.random)
        new = new_execution(
            job, fire_time, id=id, kind=Kind.REQUEST, overlap=_in_turn(job), payload=payload
        )
        return _due(new, now)


def as_recorded(new: NewExecution, now: int) -> Execution:
    """What is known of a run without reading it again: a caller that got an error asks twice."""
    return Execution(
        id=new.id,
        project=new.job.project,
        job_id=new.job.id,
        job_version=new.job.version,
        kind=new.kind,
        state=State.WAITING if new.run_at > now else State.QUEUED,
        fire_time=new.fire_time,
        run_at=new.run_at,
        queue=new.job.queue,
        ability=new.job.ability,
        created_at=now,
        payload=new.payload,
        key=new.key,
    )


def _due(new: NewExecution, now: int) -> NewExecution:
    """Due now, so that it neither overtakes what is waiting nor is past its time to live."""
    new.run_at = now
    new.rank = rank(now, new.job.priority)
    return new


def _in_turn(job: Job) -> Overlap:
    """A person asked for each of them: they wait for each other instead of being skipped."""
    return Overlap.ALLOW if job.overlap is Overlap.ALLOW else Overlap.QUEUE_ALL


async def read_progress(store: RecordStore, project: str, id: str, now: int) -> Progress | None:
    """How far the newest attempt of an execution is, by its own account."""
    record = await store.get_record(PROGRESS, project, id, now)
    return None if record is None else Progress(**record.document)


async def read_attempt_output(
    store: RecordStore, project: str, id: str, attempt: int, now: int
) -> Output | None:
    """What one attempt printed and logged so far."""
    records = await store.list_records(OUTPUT, project, output_key(id, attempt), now)
    found = outputs_of((record.key, record.document) for record in records)
    return found[0] if found else None


async def read_output(store: RecordStore, project: str, id: str, now: int) -> Sequence[Output]:
    """What the attempts of an execution printed and logged, oldest attempt first."""
    records = await store.list_records(OUTPUT, project, f"{id}/", now)
    return outputs_of((record.key, record.document) for record in records)
