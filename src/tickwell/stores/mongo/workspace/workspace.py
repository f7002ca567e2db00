"""Some jobs and executions in memory, for the memory store's code to change.

An operation reads what it needs, lets the memory store do it, and writes the difference: all of a
job's changes with one compare-and-set on the job's document.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tickwell.domain.execution import RangeSkip, Reason, State
from tickwell.domain.job import Entry, Job, JobState
from tickwell.domain.rate import is_rate
from tickwell.domain.step import Step
from tickwell.errors import StoreCorrupt
from tickwell.stores.memory import MemoryStore
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row, Tables, Waits
from tickwell.stores.mongo.codec import FIRST_ENDED, QUEUED, RUNNING, STATE_CODE, diff
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import (
    GUARDS,
    MongoRow,
    cursor_document,
    cursor_of,
    definition_document,
    document_of,
    entry_of,
    row_of,
    step_document,
    step_key,
    steps_of,
    waits_of,
)
from tickwell.stores.mongo.records import version_record
from tickwell.stores.mongo.workspace.outbox import STEPS, Event, Outbox, Update
from tickwell.stores.sql.cache import JobCache

_CURSOR = ("state", "next", "after", "runs", "failures", "nudged", "paused_through", "pause")


@dataclass(slots=True)
class Changes:
    """What one operation changes about one job."""

    rev: int
    #: Of the job's document itself.
    update: Document
    outbox: Outbox
    #: Executions that another process may change without the job, with their revisions.
    exposed: dict[str, int] = field(default_factory=dict)
    #: Another operation has frozen one of them.
    is_barred: bool = False


class GateFlow(Flow):
    """The memory store's transitions, except that concurrency gates are shared between jobs.

    An execution that reaches such a gate waits there first. Which one enters is decided by the
    gate's document, after the job's document has been written, in the order noted in `events`.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self.events: list[Event] = []

    def give_way(self, row: Row, gate: str, now: int) -> None:
        permit = row.permit if row.holds_key and isinstance(row, MongoRow) else None
        row.holds_key = False
        job, back_at = row.execution.job_id, row.permit_from
        self.events.append(Event(gate=gate, job=job, permit=permit, until=now, back_at=back_at))

    def let_in(self, gate: str, until: int) -> None:
        self.events.append(Event(gate=gate, until=until))

    def release_job(self, row: Row, now: int) -> None:
        """Return a job's permit that an ended execution still holds."""
        self._release_job(row, now)

    def free_job(self, job_id: str, now: int) -> None:
        """Take a job's permit from a holder that no longer exists, and transfer it."""
        holder = self.tables.job_gate.pop(job_id, None)
        row = None if holder is None else self.tables.rows.get(holder)
        if row is not None:
            row.holds_job = False
        self._pass_on(job_id, now)

    def _through_key_gate(self, row: Row, until: int) -> None:
        if row.gate is None or row.holds_key:
            self.tables.move(row, State.QUEUED)
            return
        if is_rate(row.gate):
            row.execution.reason = Reason.RATE
        # One that stood there before, and is looked at again, does not arrive.
        one, stood = row.execution, row.waits is Waits.KEY
        self.tables.move(row, State.BLOCKED, Waits.KEY)
        arriving = None if stood else one.id
        self.events.append(Event(gate=row.gate, job=one.job_id, arriving=arriving, until=until))


class Workspace:
    """What was read, and what the memory store has made of it."""

    def __init__(self, cache: JobCache, now: int, asked: Iterable[str] = ()) -> None:
        self.cache = cache
        self.now = now
        #: The ids of the jobs in question, whether they exist or not.
        self.asked = frozenset(asked)
        self.tables = Tables()
        self.flow = GateFlow(self.tables)
        self.spec = MemoryStore(lambda: now, self.flow)
        #: Jobs that this process cannot read, and why.
        self.unreadable: dict[str, StoreCorrupt] = {}
        self._heads: dict[str, Document] = {}
        self._entries: dict[str, Entry] = {}
        self._read: dict[str, Document] = {}
        #: The steps of executions that were read with them.
        self._steps: dict[str, dict[str, Step]] = {}
        self._dropped: dict[str, list[str]] = {}
        self._skips: dict[str, int] = {}
        #: How many executions wait for jobs' gates, where they were counted.
        self._lines: dict[str, int] = {}
        #: What the operation returns, by what it was asked for.
        self.answers: dict[str, str] = {}

    def add_job(self, doc: Document, known: Job | None = None) -> Entry:
        """Add a job from its document, or from a known definition if that is unreadable."""
        try:
            entry = entry_of(self.cache, doc)
        except StoreCorrupt:
            if known is None:
                raise
            entry = Entry(known, cursor_of(doc))
        job = entry.job
        self._heads[job.id] = doc
        self._entries[job.id] = entry
        self.tables.put_entry(entry)
        if entry.cursor.state is not JobState.DELETED:
            self.tables.names[job.project, job.name] = job.id
        if "dedupe" in doc:
            self.tables.dedupe[job.project, doc["dedupe"]] = job.id
        if "holder" in doc:
            self.tables.job_gate[job.id] = doc["holder"]
        return entry

    def add_row(self, doc: Document) -> Row:
        """Add an execution, after its job."""
        known = self.tables.rows.get(doc["_id"])
        if known is not None:
            return known
        row = row_of(doc)
        if row.holds_job and self.tables.job_gate.get(doc["job"]) != doc["_id"]:
            row.holds_job = False  # returned already, but not noted here
        self._read[doc["_id"]] = doc
        if "steps" in doc:
            self._steps[doc["_id"]] = {step.name: step for step in steps_of(doc)}
            self.tables.steps[doc["_id"]] = self._steps[doc["_id"]]
        self.tables.put_row(row)
        self.tables.move(row, row.execution.state, waits_of(doc))
        return row

    def add_skips(self, job_id: str, skips: list[RangeSkip]) -> None:
        """Add range skips that are on record."""
        self.tables.skips[job_id] = skips
        self._skips[job_id] = len(skips)

    def drop_row(self, id: str) -> None:
        """Delete an execution that has ended."""
        row = self.tables.rows[id]
        self._dropped.setdefault(row.execution.job_id, []).append(id)
        self.tables.drop_row(id)

    def is_waiting(self, id: str) -> bool:
        """Whether an execution waits."""
        row = self.tables.rows.get(id)
        return row is not None and row.execution.state is State.WAITING

    def moved(self, id: str) -> State | None:
        """The new state of an execution, if it changed."""
        row = self.tables.rows.get(id)
        if row is None or STATE_CODE[row.execution.state] == self._read[id]["state"]:
            return None
        return row.execution.state

    def require_readable(self) -> None:
        """Raise if this process cannot read one of the jobs."""
        for error in self.unreadable.values():
            raise error

    def head(self, job_id: str) -> Document:
        """The job's document as it was read."""
        return self._heads[job_id]

    def line(self, job_id: str) -> int:
        """How many executions wait for a job's own gate."""
        return self._lines.get(job_id, int(self._heads[job_id].get("waiting", 0)))

    def set_line(self, job_id: str, length: int) -> None:
        """Correct the count in the job's document."""
        self._lines[job_id] = length

    def free_gates(self, gone: Collection[str]) -> None:
        """Transfer the permits of holders that have ended or no longer exist.

        The same for permits without a holder that executions wait for.
        """
        tables = self.tables
        for id in tables.jobs:
            holder = tables.job_gate.get(id)
            if holder in gone or (holder is None and tables.before_job.get(id)):
                self.flow.free_job(id, self.now)

    def changes(self) -> dict[str, Changes]:
        """The differences, by job."""
        by_job: dict[str, list[Row]] = {id: [] for id in self._heads}
        for row in self.tables.rows.values():
            if row.execution.job_id in by_job:
                by_job[row.execution.job_id].append(row)
        made = {id: self._changes_of(id, rows) for id, rows in by_job.items()}
        return {id: changes for id, changes in made.items() if changes is not None}

    def _changes_of(self, id: str, rows: list[Row]) -> Changes | None:
        head, entry = self._heads[id], self.tables.jobs[id]
        outbox = Outbox(drop=self._dropped.get(id, []), events=self._events(id))
        changes = Changes(head.get("rev", 0), {}, outbox)
        waiting = self.line(id)
        for row in rows:
            waiting += (row.waits is Waits.JOB) - self._note(changes, row, entry)
        outbox.skips = self._new_skips(id)
        outbox.records = self._versions(id)
        changes.update = self._update(id, waiting, len(outbox.new) - len(outbox.drop))
        return changes if changes.update or outbox else None

    def _note(self, changes: Changes, row: Row, entry: Entry) -> bool:
        """Add the change of an execution; whether it was waiting for its job's gate."""
        before = self._read.get(row.execution.id)
        after = document_of(row, entry.job)
        if before is None:
            changes.outbox.new.append(after | {"rev": 0})
            return False
        known = {name: value for name, value in before.items() if name not in GUARDS}
        update, rev = diff(known, after), before.get("rev", 0)
        steps = self._changed_steps(after["_id"])
        if steps:
            update["$set"] = update.get("$set", {}) | {STEPS: steps}
        if update:
            changes.is_barred = changes.is_barred or "frozen" in before
            if _is_exposed(before):
                changes.exposed[after["_id"]] = rev
                rev += 1  # freezing it is a revision too
            changes.outbox.set.append(Update.of(after["_id"], rev, update))
        return before.get("waits") == Waits.JOB

    def _changed_steps(self, id: str) -> Document:
        """The steps of an execution that are others than those that were read, by their fields."""
        before, after = self._steps.get(id), self.tables.steps.get(id, {})
        if before is None or before is after:
            return {}
        return {
            step_key(name): step_document(step)
            for name, step in after.items()
            if before.get(name) != step
        }

    def _events(self, id: str) -> list[Event]:
        return [event for event in self.flow.events if event.job in {"", id}]

    def _new_skips(self, id: str) -> list[RangeSkip]:
        return self.tables.skips.get(id, [])[self._skips.get(id, 0) :]

    def _versions(self, id: str) -> list[Document]:
        project = self._heads[id]["project"]
        return [
            version_record(project, key, record.document)
            for (_, owner, key), record in self.tables.records.items()
            if owner == project and key.startswith(f"{id}/")
        ]

    def _update(self, id: str, waiting: int, more: int) -> Document:
        head, entry = self._heads[id], self.tables.jobs[id]
        before = {name: value for name, value in head.items() if name not in {"rev", "outbox"}}
        after = {name: value for name, value in before.items() if name not in _CURSOR}
        after |= cursor_document(entry.cursor)
        is_edited = entry.job.version != self._entries[id].job.version
        if is_edited:
            for name in ("app", "tags", "auto_remove"):
                after.pop(name, None)
            after |= definition_document(entry.job)
        made = head.get("made", 0) + more
        _put(after, "holder", self.tables.job_gate.get(id))
        _put(after, "waiting", waiting or None)
        _put(after, "made", made or None)
        if is_edited or more > 0 or self._new_skips(id):
            crosses = made > entry.job.retention.count >= made - more
            after["prune_at"] = self._prune_at(after, entry, at_once=is_edited or crosses)
        return diff(before, after)

    def _prune_at(self, after: Document, entry: Entry, *, at_once: bool) -> int:
        """When something may be past its retention."""
        retention = entry.job.retention
        if at_once:
            return 0
        earliest = self.now + min(retention.age, retention.dead)
        for skip in self._new_skips(entry.job.id):  # their fire times may be long past
            earliest = min(earliest, skip.last + retention.age)
        return int(min(after.get("prune_at", earliest), earliest))


def _is_exposed(doc: Document) -> bool:
    """Whether another process may change an execution without its job's document.

    It can be claimed, enter a concurrency gate, or end; or it has ended, and its job's gate is
    about to be released.
    """
    ends_alone = doc["state"] == RUNNING and "tied" not in doc
    leaves = doc["state"] >= FIRST_ENDED and "holds_job" in doc
    return doc["state"] == QUEUED or doc.get("waits") == Waits.KEY or ends_alone or leaves


def _put(doc: Document, name: str, value: object) -> None:
    if value is None:
        doc.pop(name, None)
    else:
        doc[name] = value
