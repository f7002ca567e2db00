"""What the memory store holds: rows by id, and heaps instead of indexes."""

from __future__ import annotations

import heapq
from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tickwell.domain.execution import Execution, RangeSkip, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry
from tickwell.domain.step import Step
from tickwell.domain.worker import Liveness
from tickwell.ports.records import Record


class Waits(StrEnum):
    """The gate that a pending execution waits for."""

    JOB = "job"
    KEY = "key"


@dataclass(slots=True, kw_only=True)
class Row:
    """An execution and what the queue knows of it."""

    execution: Execution
    rank: int
    overlap: Overlap
    gate: str | None
    limit: int
    #: Promotion looks at it when this is at most now + horizon.
    look_at: int
    expires_at: int | None
    #: From when on the permit of its rate can be had again, were it to give it back now.
    permit_from: int = 0
    waits: Waits | None = None
    holds_job: bool = False
    holds_key: bool = False
    claim_id: str = ""
    #: A change of its job took it back while a worker held it for its instant.
    called_off: bool = False
    #: What it has in common with the same runs of its job.
    unique: str | None = None


def own(value: Any) -> Any:
    """The value as the store's own, or the caller's: JSON that no other code can change."""
    return deepcopy(value) if isinstance(value, dict | list) else value


def own_entry(entry: Entry) -> Entry:
    """The same for a job with its cursor; only the payload can be changed."""
    job = entry.job
    if isinstance(job.payload, dict | list):
        job = replace(job, payload=deepcopy(job.payload))
    return Entry(job, entry.cursor)


def is_readable(entry: Entry) -> bool:
    """Whether its definition can be used; here that fails only for one that was broken."""
    try:
        return entry.job.trigger is not None
    except Exception:  # noqa: BLE001 - whatever it is, it concerns this job alone
        return False


@dataclass(slots=True)
class Tables:
    """All the data. Heap entries are hints: a popped entry is checked against its row."""

    jobs: dict[str, Entry] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    dedupe: dict[tuple[str, str], str] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    #: Executions by their job and what the same runs of it have in common.
    same: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    by_job: dict[str, set[str]] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    #: By execution and name.
    steps: dict[str, dict[str, Step]] = field(default_factory=dict)
    skips: dict[str, list[RangeSkip]] = field(default_factory=dict)
    #: The holder of a job's own gate, and the executions that wait for it.
    job_gate: dict[str, str] = field(default_factory=dict)
    before_job: dict[str, set[str]] = field(default_factory=dict)
    #: The holders of a concurrency gate, and the executions that wait for it.
    key_gate: dict[str, set[str]] = field(default_factory=dict)
    before_key: dict[str, set[str]] = field(default_factory=dict)
    #: When permits that were used can be had again, by the gate of a rate.
    key_free: dict[str, list[int]] = field(default_factory=dict)
    workers: dict[str, Liveness] = field(default_factory=dict)
    records: dict[tuple[str, str, str], Record] = field(default_factory=dict)
    #: By project (next_fire_time, job); (look_at, execution), (expires_at, execution), by queue
    #: (rank, execution).
    due_jobs: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    due_rows: list[tuple[int, str]] = field(default_factory=list)
    expiring: list[tuple[int, str]] = field(default_factory=list)
    queues: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def put_entry(self, entry: Entry) -> None:
        """Store a job with its cursor; the planner finds it by its next fire time."""
        self.jobs[entry.job.id] = entry
        if entry.cursor.next_fire_time is not None:
            heap = self.due_jobs.setdefault(entry.job.project, [])
            heapq.heappush(heap, (entry.cursor.next_fire_time, entry.job.id))

    def is_due_job(self, at: int, id: str) -> bool:
        """Whether this is the job's next fire time."""
        entry = self.jobs.get(id)
        return entry is not None and entry.cursor.next_fire_time == at

    def put_row(self, row: Row) -> None:
        """Store an execution that is new."""
        execution = row.execution
        self.rows[execution.id] = row
        self.by_job.setdefault(execution.job_id, set()).add(execution.id)
        if execution.key is not None:
            self.keys[execution.job_id, execution.key] = execution.id
        if row.unique is not None:
            self.same.setdefault((execution.job_id, row.unique), set()).add(execution.id)
        self.expire(row)

    def expire(self, row: Row) -> None:
        """Let its time to live end it."""
        if row.expires_at is not None:
            heapq.heappush(self.expiring, (row.expires_at, row.execution.id))

    def move(self, row: Row, state: State, waits: Waits | None = None) -> None:
        """Change the state of an execution and keep all that is derived from it."""
        execution = row.execution
        self._stand_aside(row)
        execution.state, row.waits = state, waits
        if waits is Waits.JOB:
            self.before_job.setdefault(execution.job_id, set()).add(execution.id)
        elif waits is Waits.KEY and row.gate is not None:
            self.before_key.setdefault(row.gate, set()).add(execution.id)
        if state is State.RUNNING:
            self.running.add(execution.id)
        else:
            self.running.discard(execution.id)
        if state is State.WAITING:
            heapq.heappush(self.due_rows, (row.look_at, execution.id))
        elif state is State.QUEUED:
            heap = self.queues.setdefault(execution.queue, [])
            heapq.heappush(heap, (row.rank, execution.id))

    def _stand_aside(self, row: Row) -> None:
        """Remove it from the queue of its gate; an empty queue is deleted."""
        if row.waits is None:
            return
        waiting, name = self.before_job, row.execution.job_id
        if row.waits is Waits.KEY:
            waiting, name = self.before_key, row.gate or ""
        if name in waiting:
            waiting[name].discard(row.execution.id)
            if not waiting[name]:
                del waiting[name]

    def forget_gate(self, gate: str) -> None:
        """Delete a gate without holders: keys come from payloads, so there may be any number."""
        if not self.key_gate.get(gate):
            self.key_gate.pop(gate, None)

    def drop_job(self, job_id: str) -> None:
        """Forget a job that has no executions, and all that belongs to it."""
        job = self.jobs.pop(job_id).job
        self.skips.pop(job_id, None)
        self.by_job.pop(job_id, None)
        # The key that it was created with, whatever an edit made of it since.
        for names in (self.names, self.dedupe):
            for key in [key for key, id in names.items() if id == job_id]:
                del names[key]
        for record in list(self.records):
            if record[:2] == ("job_version", job.project) and record[2].startswith(f"{job_id}/"):
                del self.records[record]

    def drop_row(self, execution_id: str) -> None:
        """Forget an execution that has ended."""
        row = self.rows.pop(execution_id)
        execution = row.execution
        self.by_job[execution.job_id].discard(execution_id)
        self.steps.pop(execution_id, None)
        if execution.key is not None:
            self.keys.pop((execution.job_id, execution.key), None)
        if row.unique is not None:
            same = self.same[execution.job_id, row.unique]
            same.discard(execution_id)
            if not same:
                del self.same[execution.job_id, row.unique]
