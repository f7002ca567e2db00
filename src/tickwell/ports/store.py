"""The store: the single system of record, as narrow protocols that one class implements.

Rules for every method:
- `now` is an argument: the caller's idea of the store's time. No store reads a clock but in `ping`.
- A batch is the shape; one is a batch of one.
- Repeating a call after a lost reply has no second effect.
- Errors of drivers are translated into `tickwell.errors.StoreError` and its kin, cause kept.
- What is returned is the caller's: changing it changes nothing in the store.
- A job that this process cannot read (a zone that it does not know, a field of a newer version) is
  left out of `fire_due`, `promote`, `claim`, `orphans` and `prune` for a minute, and `next_wakeup`
  names it. Nothing is written about it: it stays due, and claimable for a worker that can read it.
  Lists of jobs leave it out; asked for by its name or id, it raises `StoreCorrupt`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from tickwell.domain.change import Changed, Changer
from tickwell.domain.execution import Claim, Execution, NewExecution, RangeSkip, Start, State
from tickwell.domain.job import Cursor, Entry, Job, JobState
from tickwell.domain.outcome import Report
from tickwell.domain.planning import Plan
from tickwell.domain.promises import Promises
from tickwell.domain.queue import LaneLength
from tickwell.domain.step import Step
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.ports.records import (
    Claimable,
    ClaimRequest,
    ExecutionFilter,
    Finished,
    Fired,
    JobFilter,
    Page,
    Promoted,
    QueueLength,
    Record,
    Wakeup,
)
from tickwell.ports.transfer import TransferStore

#: `domain.planning.plan` with the instant and the horizon filled in.
PlanMaker = Callable[[Job, Cursor], Plan]


class QueueStore(Protocol):
    """The hot path."""

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired:
        """Plan up to `limit` jobs whose `next_fire_time` is at most now + horizon, oldest first.

        Atomically per job, provided it is unchanged since it was read: record the plan's
        executions and skips, move the cursor, release what a pause held if the plan says so.
        An execution whose id exists is left alone and not counted as a run, except that a
        withdrawn one is armed again: same id, attempt numbers go on. What gets its permits and is
        due within the horizon becomes `queued`, the rest `waiting`; what is due and finds its
        job's gate busy meets its overlap rule at once. `more`: call again at once, because the
        limit was reached or a plan left something over. A job whose plan fails is left out for a
        minute, still due, and named by `next_wakeup`; the others are fired.

        In turn: of each project that has something due, by name and no more than the limit, an
        equal part of the limit, oldest first; `more` says that some project had all of its part.
        """
        ...

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        """Move pending executions on, earliest first, up to `limit`.

        `waiting`, due within the horizon, with permits to be had: `queued`; its key's gate busy:
        `blocked`. `waiting`, due now, its job's gate busy: what its overlap says; not due yet:
        looked at again at its instant. Past its time to live, first of all: `skipped`. Each of
        the two has the limit; counted is where they stand when all have been looked at.
        """
        ...

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        """Hand over queued executions, best rank first; each is `running`, attempt + 1, owned.

        The deadline is the later of now and `run_at`, plus the job's hard timeout and a minute
        for the report. No execution goes to two callers, none past its time to live to anybody.
        It ends with the one that brings their own payloads to the bytes asked for.
        A worker that is lost, or never beat, gets nothing. A repeated request gets what its
        claim id still holds, or makes a new claim if that is nothing.
        """
        ...

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        """Look at what is due within the lead, in these queues and of these abilities, only.

        Best rank first, up to the limit. Whose claim it would be does not matter, nor `left_out`:
        a job that this process cannot read may be among them, and one past its time to live.
        """
        ...

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        """Apply each report whose execution is `running` with that attempt number; refuse others.

        Records the attempt, sets state and `run_at`, passes permits on, and sets off the next
        fire of a job that counts from the end, at the report's `ended_at`. Where it awaits steps
        and one of them is final, `run_at` is its `ended_at`. A report that was applied before is
        not refused, and answers with the failures so far as well.

        When another attempt would follow: it runs by the definition now in force; of a paused
        job it is held, of a deleted one cancelled, and so is one whose cancel was requested. A
        fire that a change called off before it started is withdrawn, uncharged, or waits again
        if the definition now in force fires at the same time.
        """
        ...

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        """Move executions that are in one of the pending `states`; answer which were moved.

        Those that come into such a state by the moves of others of them stay.
        To cancelled, skipped or parked, or a parked one back to waiting. Consequences as in
        `finish`; a parked one keeps its place in its job's gate, its concurrency permit not.
        """
        ...

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        """Write the worker's row with the next beat number; answer what it owns.

        A worker that was declared lost stays lost. One that is leaving and owns nothing is
        forgotten.
        """
        ...

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        """Write when attempts started, of each that is `running` with that number.

        Answers the ids that were written; one that another write holds may be left out. It is the
        execution's `started_at` while the attempt is under way, and its orphan has it. A claim
        begins without one, and what `finish` reports in the end counts.
        """
        ...

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        """Mark the worker lost if its beat number is still this one; say whether it is lost now.

        One that the store does not know is lost.
        """
        ...

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        """Running executions of lost or forgotten workers, and those past their deadline, by id."""
        ...

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        """When a loop has to act next; `run` looks at these queues only, and only after now.

        What is left out as unreadable wakes nobody.
        """
        ...


class CatalogStore(Protocol):
    """Jobs."""

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        """Add jobs, all or none. A known `dedupe_key` answers with the job that has it.

        Raises `JobExists` when a name is taken. The same id again is the same job; in another
        project it is refused with `JobIdTaken`. The key that a job was created with stays its own
        until it is pruned, whatever an edit says.
        """
        ...

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        """Apply a change to each job, atomically per job, in the order given.

        The changer is pure and may be called again when the job moved meanwhile; None changes
        nothing. Its error is raised, with the jobs before it changed. Raises `NotFound`, and
        `JobExists` when a new name is taken. A new definition leaves the one before as a record
        "job_version" under "<id>/<version>", the version in eight digits.

        What stays pending through an edit goes on by the new definition (version, queue, target,
        priority) in the gate that it has, with the new limit if the key is the same. A fire that
        a worker holds for its instant is asked to give up if the change would have taken it back;
        a deletion asks for all that is not due.
        """
        ...

    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        """The jobs with these ids or names, in the order given; missing ones are left out.

        An id wins over a name, so that nobody's name takes the place of another job. A deleted job
        is found by its id until it is pruned.
        """
        ...

    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        """Jobs by project and name; `search` ignores the case of ASCII letters."""
        ...

    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        """How many jobs are active, paused and finished. Reads every cursor: call it rarely."""
        ...


class HistoryStore(Protocol):
    """Executions."""

    async def add_executions(
        self, new: Sequence[NewExecution], now: int, horizon: int
    ) -> list[str]:
        """Record requested runs and backfills; answer the ids, those that exist already included.

        A (job, key) that exists answers with its execution. A slot of a backfill that was
        skipped is armed again; one that ran is left alone. A backfilled fire counts as a run.
        All or none: raises `NotFound` when one of the jobs is deleted.
        """
        ...

    async def get_execution(self, project: str, id: str) -> Execution | None:
        """One execution with its attempts."""
        ...

    async def list_executions(
        self, where: ExecutionFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Execution]:
        """Executions, newest id first: ids begin with their instant."""
        ...

    async def list_skips(self, job_id: str, since: int, until: int) -> list[RangeSkip]:
        """Range skips that touch [since, until), oldest first."""
        ...

    async def request_cancel(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        """Cancel what is pending, ask the worker of what is running; answer which were live."""
        ...

    async def revive(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        """Dead executions wait again, due now, with a new budget; answer which were revived.

        Attempt numbers go on. One that passes its job's gate waits its turn there, and no newer
        one takes its place. Executions of deleted jobs stay dead.
        """
        ...

    async def purge(self, project: str, ids: Sequence[str], now: int) -> list[str]:
        """Delete dead executions with their attempts; answer which. Those of deleted jobs too."""
        ...

    async def stats(self, project: str | None = None) -> dict[State, int]:
        """How many executions are in each state."""
        ...

    async def queue_lengths(self, now: int) -> list[QueueLength]:
        """How many live executions each project has, by queue and state; zeros are left out.

        Reads every live execution, and none that has ended. What changes meanwhile may be counted
        before or after the change.
        """
        ...

    async def lane_lengths(self, state: State, limit: int) -> list[LaneLength]:
        """Every queue and ability that has executions queued, or parked, by queue and ability.

        How many, counted up to the limit, and the best ranked of them. A lane costs as much as the
        limit at most, however much it holds.
        """
        ...

    async def list_workers(self) -> list[Liveness]:
        """All workers that the store remembers, by id."""
        ...


class StepStore(Protocol):
    """What executions have done, kept from one attempt to the next."""

    async def write_steps(self, steps: Sequence[Step]) -> list[Step]:
        """Write each whose execution is `running` with that attempt number; answer the others.

        One of the same name is replaced, unless it is final: then it stays, and nothing is
        refused. Of several with one name in a call the last counts, or the first that is final.
        What is written stays through all attempts, and is deleted with its execution.
        """
        ...

    async def answer_step(self, project: str, id: str, name: str, value: Any, now: int) -> bool:
        """Make a step that is not final so, with this value; False if there is none.

        Of a live execution only. If it is `waiting`, and its last attempt wrote the step, it is due
        now; if that attempt is under way and its report awaits the step, it is due when that is
        applied.
        """
        ...

    async def list_steps(self, project: str, id: str) -> list[Step]:
        """The steps of an execution, by when they were written, then by name."""
        ...


class RecordStore(Protocol):
    """Documents of the service: members, keys, secrets, audit entries, job versions."""

    async def put_record(
        self, record: Record, now: int, expected_version: int | None = None
    ) -> bool:
        """Write it as the next version; False if the stored version is not the expected one.

        Expected 0: it must not exist. Expected None: whatever is there is replaced. A record that
        has expired does not exist. Repeated after a lost reply, a write that expects a version
        answers False: read the record to learn whose it is.
        """
        ...

    async def put_records(self, records: Sequence[Record], now: int) -> None:
        """Write each as its next version, whatever is there. No key twice; not all or none."""
        ...

    async def get_record(self, kind: str, project: str, key: str, now: int) -> Record | None:
        """The record, unless it has expired."""
        ...

    async def list_records(
        self, kind: str, project: str, prefix: str, now: int, limit: int = 1000
    ) -> list[Record]:
        """Records whose key begins with the prefix, by key."""
        ...

    async def delete_record(self, kind: str, project: str, key: str) -> bool:
        """Forget it; say whether it was there."""
        ...


class Upkeep(Protocol):
    """The life of the store itself."""

    #: For people and logs; no credentials in it.
    name: str
    #: What may be promised here; known once it is open.
    promises: Promises

    async def open(self) -> None:
        """Connect, and bring the schema up to date under a lock."""
        ...

    async def close(self) -> None:
        """Let go of connections; pending calls end first."""
        ...

    async def ping(self) -> int:
        """The store's time."""
        ...

    async def prune(self, now: int, limit: int) -> int:
        """Delete what is old; answer how much.

        Up to `limit` of each: ended executions and range skips past their job's retention; former
        definitions that were replaced before it, but for the newest 100; expired records; lost
        workers that hold nothing and were last seen a day ago; then deleted jobs without history,
        with their skips and versions, which do not count.
        """
        ...


class Store(
    QueueStore, CatalogStore, HistoryStore, StepStore, RecordStore, TransferStore, Upkeep, Protocol
):
    """Everything."""
