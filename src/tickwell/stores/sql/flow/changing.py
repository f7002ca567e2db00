"""Changes of jobs: decided and written with the job locked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tickwell.domain.change import Change, Changed, Changer, leave_out
from tickwell.domain.document import job_to_document
from tickwell.domain.job import Job, JobState
from tickwell.errors import JobExists, NotFound
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.flow.pending import PendingExecutions
from tickwell.stores.sql.flow.recording import Recorder, insert_skips, new_skips
from tickwell.stores.sql.rows.codec import JOB_STATE_CODE, cursor_to_row, ids_among
from tickwell.stores.sql.rows.documents import JOB_VERSION, version_key
from tickwell.stores.sql.rows.entries import entry_of, job_columns, own
from tickwell.stores.sql.session import Session


class Changes:
    """One call of `change_jobs`, inside a transaction."""

    def __init__(self, session: Session, cache: JobCache, project: str, now: int) -> None:
        self.session = session
        self.cache = cache
        self.project = project
        self.now = now
        self.flow = Flow(session, cache)

    async def make(
        self, ids: Sequence[str], change: Changer
    ) -> tuple[list[Changed], Exception | None]:
        """Change each job, up to the first that cannot be changed; its error is the caller's."""
        await self.flow.locks.jobs_with_gates(ids_among(ids))
        changed: list[Changed] = []
        error: Exception | None = None
        for id in ids:
            try:
                changed.append(await self._change(id, change))
            except (NotFound, JobExists, _ChangerError) as problem:
                error = problem.error if isinstance(problem, _ChangerError) else problem
                break
        await self.flow.close()
        return changed, error

    async def _change(self, id: str, change: Changer) -> Changed:
        row = await self.session.row("entry", id) if id in self.flow.locks.heads else None
        if row is None or row[10] != self.project:
            raise NotFound("job", id)
        entry = entry_of(self.cache, row)
        try:
            made = change(own(entry), self.now)
        except Exception as error:
            raise _ChangerError(error) from error
        if made is None:
            return Changed(entry=own(entry))
        noted = await new_skips(self.session, entry.job, made.skips)
        if not leave_out(made, noted):
            return Changed(entry=own(entry))
        job = entry.job
        if made.job is not None:
            await self._define(job, made.job)
            job = made.job
        if made.cursor.state is JobState.DELETED:
            await self.session.run("mark_deleted", id)
        await self.session.run("update_cursor", *cursor_to_row(made.cursor), id)
        self.flow.locks.heads[id].state = JOB_STATE_CODE[made.cursor.state]
        await insert_skips(self.session, job, noted)
        await self._record(job, made)
        withdrawn, cancelling = await PendingExecutions(self.flow, job).change(made, self.now)
        after = entry_of(self.cache, await self.session.row("entry", id))
        return Changed(
            entry=own(after), withdrawn=withdrawn, reason=made.reason, cancelling=cancelling
        )

    async def _define(self, before: Job, job: Job) -> None:
        """Store a new definition; the one before stays as a record."""
        if await self.session.value("job_of_name", self.project, job.name) not in {None, job.id}:
            raise JobExists(job.name)
        document = json.dumps(job_to_document(job))
        await self.session.run("update_job", *job_columns(job, document), job.id)
        policies = job.version, job.timeout.hard, job.retention.count
        is_new = job.retention != before.retention
        await self.session.run("update_policies", *policies, is_new, job.id)
        if is_new:
            await self.session.run("keep_skips", job.retention.age, job.id)
        self.flow.locks.heads[job.id].version = job.version
        await self.session.run(
            "replace_record",
            JOB_VERSION,
            self.project,
            version_key(before),
            json.dumps(job_to_document(before)),
        )

    async def _record(self, job: Job, made: Change) -> None:
        if made.executions:
            await self.flow.locks.gates(new.gate for new in made.executions)
        recorder = Recorder(self.flow, self.now, 0)
        recorded = sum([await recorder.one(new) for new in made.executions])
        await self.flow.give_back(job, len(made.executions) - recorded, self.now)


class _ChangerError(Exception):
    """The changer refused, and said why."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
