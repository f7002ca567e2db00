"""Jobs in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tickwell.domain.change import Changed, Changer, leave_out
from tickwell.domain.document import job_to_document
from tickwell.domain.job import Entry, Job, JobState
from tickwell.errors import Conflict, JobExists, JobIdTaken, NotFound
from tickwell.ports.records import JobFilter, Page, Record
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.pending import PendingExecutions
from tickwell.stores.memory.tables import is_readable, own_entry
from tickwell.stores.page_cursor import require_job_cursor


class MemoryCatalog:
    """`ports.store.CatalogStore`."""

    def __init__(self, flow: Flow) -> None:
        self.tables = flow.tables
        self.flow = flow

    async def add_jobs(self, entries: Sequence[Entry], now: int) -> list[Entry]:
        added: list[Job] = []
        try:
            return [
                own_entry(self._known(entry.job) or self._add_job(entry, added))
                for entry in entries
            ]
        except Conflict:
            for job in added:  # all or none
                self.tables.drop_job(job.id)
            raise

    def _known(self, job: Job) -> Entry | None:
        id = self.tables.dedupe.get((job.project, job.dedupe_key)) if job.dedupe_key else None
        known = self.tables.jobs.get(id or job.id)
        if known is not None and known.job.project != job.project:
            raise JobIdTaken(job.id)
        return known

    def _add_job(self, entry: Entry, added: list[Job]) -> Entry:
        job = entry.job
        if (job.project, job.name) in self.tables.names:
            raise JobExists(job.name)
        added.append(job)
        self.tables.names[job.project, job.name] = job.id
        if job.dedupe_key:
            self.tables.dedupe[job.project, job.dedupe_key] = job.id
        self.tables.put_entry(own_entry(entry))
        return entry

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        return [self._change(project, id, change, now) for id in ids]

    def _change(self, project: str, id: str, change: Changer, now: int) -> Changed:
        entry = self.tables.jobs.get(id)
        if entry is None or entry.job.project != project:
            raise NotFound("job", id)
        made = change(own_entry(entry), now)
        if made is None:
            return Changed(entry=own_entry(entry))
        noted = self.flow.new_skips(entry.job, made.skips)
        if not leave_out(made, noted):
            return Changed(entry=own_entry(entry))
        changed = own_entry(Entry(made.job or entry.job, made.cursor))
        if made.job is not None:
            self._rename(entry, changed)
        key = project, entry.job.name
        if changed.cursor.state is JobState.DELETED and self.tables.names.get(key) == id:
            del self.tables.names[key]
        self.tables.put_entry(changed)
        self.tables.skips.setdefault(id, []).extend(noted)
        self.flow.record_plan(id, made, now, 0)
        withdrawn, cancelling = PendingExecutions(self.flow, changed.job).change(made, now)
        return Changed(
            entry=own_entry(self.tables.jobs[id]),
            withdrawn=withdrawn,
            reason=made.reason,
            cancelling=cancelling,
        )

    def _rename(self, before: Entry, after: Entry) -> None:
        project, names = before.job.project, self.tables.names
        if names.get((project, after.job.name), before.job.id) != before.job.id:
            raise JobExists(after.job.name)
        names.pop((project, before.job.name), None)
        names[project, after.job.name] = after.job.id
        key = f"{before.job.id}/{before.job.version:08}"
        self.tables.records["job_version", project, key] = Record(
            kind="job_version", project=project, key=key, document=job_to_document(before.job)
        )

    async def get_jobs(self, project: str, keys: Sequence[str]) -> list[Entry]:
        found = []
        for key in keys:
            entry = self.tables.jobs.get(key)
            if entry is None or entry.job.project != project:
                entry = self.tables.jobs.get(self.tables.names.get((project, key), ""))
            if entry is not None:
                found.append(own_entry(entry))
        return found

    async def count_jobs(self, project: str | None = None) -> dict[JobState, int]:
        entries = self.tables.jobs.values()
        counted = Counter(
            each.cursor.state for each in entries if project in {None, each.job.project}
        )
        return {state: counted[state] for state in JobState if state is not JobState.DELETED}

    async def list_jobs(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        require_job_cursor(where, cursor)
        position = _position if where.fires_before is None else _turn
        matching = sorted(
            (
                entry
                for entry in self.tables.jobs.values()
                if _matches(entry, where) and is_readable(entry)
            ),
            key=position,
        )
        later = [entry for entry in matching if cursor is None or position(entry) > cursor]
        items = [own_entry(entry) for entry in later[:limit]]
        return Page(items=items, cursor=position(items[-1]) if len(later) > limit else None)


def _position(entry: Entry) -> str:
    """The position of a job in a list: by project, name, and id, since deleted jobs share names."""
    return f"{entry.job.project}\0{entry.job.name}\0{entry.job.id}"


def _turn(entry: Entry) -> str:
    """The same in a list by time."""
    return f"{entry.cursor.next_fire_time:015}\0{entry.job.id}"


def _matches(entry: Entry, where: JobFilter) -> bool:
    job = entry.job
    return (
        entry.cursor.state in where.states
        and where.project in {None, job.project}
        and where.queue in {None, job.queue}
        and where.app in {None, job.app}
        and (where.tag is None or where.tag in job.tags)
        and (where.search is None or where.search.lower() in job.name.lower())
        and where.auto_remove in {None, job.auto_remove}
        and _is_soon(entry, where.fires_before)
    )


def _is_soon(entry: Entry, instant: int | None) -> bool:
    upcoming = entry.cursor.next_fire_time
    return instant is None or (upcoming is not None and upcoming <= instant)
