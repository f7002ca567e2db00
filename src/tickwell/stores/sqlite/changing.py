"""Changes of jobs: decided outside the write lock, checked and written under it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.domain.change import Change, Changed, Changer, Pending, leave_out
from tickwell.domain.document import job_to_document
from tickwell.domain.execution import Reason
from tickwell.domain.job import Job, JobState
from tickwell.errors import JobExists, NotFound
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import CANCELLED, SKIPPED, cursor_to_row, skip_row
from tickwell.stores.sql.documents import JOB_VERSION, version_key
from tickwell.stores.sql.entries import entry_of, job_columns, own
from tickwell.stores.sql.pending import is_taken_back
from tickwell.stores.sqlite.firing import new_skips, release
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.recording import Recorder
from tickwell.stores.sqlite.rows import Row
from tickwell.stores.sqlite.session import Session


@dataclass(slots=True)
class Draft:
    """A job as it was read, and the change made from that."""

    id: str
    #: The columns of `entry`; None when there is no such job.
    row: tuple[Any, ...] | None = None
    change: Change | None = None
    error: Exception | None = None


class Changes:
    """One call of `change_jobs`."""

    def __init__(self, session: Session, cache: JobCache, project: str, now: int) -> None:
        self.session = session
        self.cache = cache
        self.project = project
        self.now = now
        self.flow = Flow(session, cache)

    def draft(self, ids: Sequence[str], change: Changer) -> list[Draft]:
        """Decide on each job, up to the first that cannot be changed."""
        drafts = []
        for id in ids:
            drafts.append(self._decide(id, change))
            if drafts[-1].error is not None:
                break
        return drafts

    def write(self, drafts: list[Draft], change: Changer) -> tuple[list[Changed], Exception | None]:
        """Write what was decided; decide again where the job moved meanwhile."""
        changed: list[Changed] = []
        for draft in drafts:
            current = self.session.row("entry_by_id", draft.id)
            if draft.error is not None or draft.row != current:
                draft = self._decide(draft.id, change)  # noqa: PLW2901 - the same job, read anew
            try:
                changed.append(self._apply(draft))
            except Exception as error:  # noqa: BLE001 - raised once those before it are written
                self.flow.close()
                return changed, error
        self.flow.close()
        return changed, None

    def _decide(self, id: str, change: Changer) -> Draft:
        row = self.session.row("entry_by_id", id)
        if row is None or row[11] != self.project:
            return Draft(id, row, error=NotFound("job", id))
        try:
            made = change(own(entry_of(self.cache, row[1:])), self.now)
        except Exception as error:  # noqa: BLE001 - raised once those before it are written
            return Draft(id, row, error=error)
        return Draft(id, row, made)

    def _apply(self, draft: Draft) -> Changed:
        if draft.error is not None:
            raise draft.error
        row, made = draft.row, draft.change
        assert row is not None  # noqa: S101 - a job that is not there is an error above
        entry = entry_of(self.cache, row[1:])
        if made is None:
            return Changed(entry=own(entry))
        skips = new_skips(self.session, entry.job, made.skips)
        if not leave_out(made, skips):
            return Changed(entry=own(entry))
        key, job = row[0], entry.job
        if made.job is not None:
            self._define(key, entry.job, made.job)
            job = made.job
        if made.cursor.state is JobState.DELETED:
            self.session.run("mark_deleted", key)
        self.session.run("update_cursor", *cursor_to_row(made.cursor), key)
        rows = [skip_row(key, skip, job.retention.age) for skip in skips]
        self.session.many("insert_skips", rows)
        self._record(key, job, made)
        withdrawn, cancelling = PendingExecutions(self.flow, key, job).change(made, self.now)
        after = self.session.row("entry", key)
        return Changed(
            entry=own(entry_of(self.cache, after[1:])), withdrawn=withdrawn, cancelling=cancelling
        )

    def _define(self, key: int, before: Job, job: Job) -> None:
        """Store a new definition; the one before stays as a record."""
        if self.session.value("key_of_name", self.project, job.name) not in {None, key}:
            raise JobExists(job.name)
        document = json.dumps(job_to_document(job))
        self.session.run("update_job", *job_columns(job, document), key)
        policies = job.version, job.timeout.hard, job.retention.count
        self.session.run("update_policies", *policies, key)
        if job.retention != before.retention:
            self.session.run("new_retention", job.retention.dead, job.retention.age, key)
            self.session.run("keep_skips", job.retention.age, key)
        self.session.run(
            "replace_record",
            JOB_VERSION,
            self.project,
            version_key(before),
            json.dumps(job_to_document(before)),
            1,
            None,
        )

    def _record(self, key: int, job: Job, made: Change) -> None:
        recorder = Recorder(self.flow, self.now, 0)
        recorded = sum(recorder.one(key, new) for new in made.executions)
        self.flow.give_back(job, key, len(made.executions) - recorded, self.now)


class PendingExecutions:
    """The executions of one job, as an edit, a pause, a resume or a deletion finds them."""

    def __init__(self, flow: Flow, key: int, job: Job) -> None:
        self.flow = flow
        self.session = flow.session
        self.key = key
        self.job = job

    def change(self, made: Change, now: int) -> tuple[int, int]:
        """Carry out a change; how many were withdrawn, how many are asked to give up."""
        pending = made.pending
        if pending is Pending.RELEASE:
            release(self.flow, self.key, self.job, now)
        if pending in {Pending.KEEP, Pending.RELEASE}:
            return 0, 0
        withdrawn: list[int] = []
        kept: list[int] = []
        for key, *facts in self.session.rows("pending_of_job", self.key):
            (withdrawn if is_taken_back(facts, made, now) else kept).append(key)
        if withdrawn:
            # None of them may inherit the permit of another that ends in this same step.
            self.session.run("take_out", json.dumps(withdrawn))
        reason = Reason.MISFIRE if pending is Pending.RECALL else Reason.WITHDRAWN
        # Loaded one by one: each may have got the permit of the one before.
        gates = set()
        for key in kept:
            row = self.flow.gates.load(key)
            if row is not None:
                gates.add(row.gate)
                self._keep(row, pending, now)
        for key in withdrawn:
            row = self.flow.gates.load(key)
            if row is not None:
                gates.add(row.gate)
                self.flow.end(row, SKIPPED, reason, now)
        for gate in sorted(gate for gate in gates if gate is not None):
            # A limit may have been raised, or the first have been withdrawn.
            self.flow.gates.let_in(gate)
        return len(withdrawn), self._call_off(made, now)

    def _keep(self, row: Row, pending: Pending, now: int) -> None:
        if pending is Pending.RESTAMP:
            self.flow.restamp(row, self.job)
        elif pending is Pending.END:
            self.flow.end(row, CANCELLED, "job deleted", now)
        elif pending is Pending.HOLD:
            self.flow.hold(row)

    def _call_off(self, made: Change, now: int) -> int:
        """Ask for what is claimed ahead of its instant, as far as it would have been taken back.

        What would have been kept or held starts within the lead, which is soon enough.
        """
        asked = 0
        if made.pending is Pending.RECALL:
            return asked
        for key, *facts in self.session.rows("ahead_of_job", self.key, now):
            called_off = is_taken_back(facts, made, now)
            cancel = called_off or made.pending is Pending.END
            self.session.run("call_off", called_off, cancel, key)
            asked += cancel
        return asked
