"""The backend that works on a store itself, by the services that the API uses too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from random import SystemRandom
from typing import Any

from tickwell.cli.backend import Document
from tickwell.cli.store_file import check_there, file_findings
from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.document import job_from_document
from tickwell.domain.job import Entry, Job
from tickwell.errors import InvalidJob, NotFound
from tickwell.executors.http.guard import Guard, check_target
from tickwell.executors.http.resolver import SystemResolver
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services import documents as to
from tickwell.services.checkup import Checkup
from tickwell.services.dead import DeadFilter, DeadLetters
from tickwell.services.executions import Executions
from tickwell.services.jobs import Jobs
from tickwell.services.payload import checked
from tickwell.services.slots import Slots
from tickwell.settings import Settings
from tickwell.wiring import make_store


class StoreBackend:
    """Opens the store at the first call. Only what adds something makes a file that is missing."""

    def __init__(self, settings: Settings, project: str) -> None:
        self.settings = settings
        self.project = project
        self.store = make_store(settings.store)
        self.clock = StoreClock()
        self._opened = False
        random = SystemRandom()
        self._jobs = Jobs(self.store, self.clock, random, _nobody)
        self._executions = Executions(self.store, self.clock, random, _nobody)
        self._slots = Slots(self.store, self.clock)
        self._dead = DeadLetters(self.store, self.clock, _nobody)

    async def open(self, *, make: bool = False) -> None:
        """Connect, and take over the store's time."""
        if self._opened:
            return
        if not make:
            check_there(self.settings.store)
        await self.store.open()
        self._opened = True
        sent = self.clock.monotonic()
        self.clock.sample(await self.store.ping(), sent, self.clock.monotonic())

    async def close(self) -> None:
        if self._opened:
            await self.store.close()

    async def now(self) -> int:
        return self.clock.now() if self._opened else wall_millis()

    async def wait(self, seconds: float) -> None:
        await self.store.changed(seconds)

    @cached_property
    def _guard(self) -> Guard:
        return Guard.of(self.settings)

    async def _read(self, document: Document, id: str = "") -> Job:
        """The job of a document, refused before anything is opened."""
        named = document.get("project", self.project)
        if named != self.project:
            raise InvalidJob(
                f"the document belongs to {named!r}", field="project", hint=f"Use --project {named}"
            )
        definition = {**to.definition_of(document), "project": self.project, "id": id}
        job = job_from_document(definition)
        job = replace(job, payload=checked(job.payload))
        resolver = SystemResolver()
        try:
            await check_target(job.target, self._guard, resolver)
        finally:
            resolver.close()
        return job

    async def jobs_add(self, document: Document) -> Document:
        job = await self._read(document)
        await self.open(make=True)
        return to.entry_document(await self._jobs.add(job))

    async def jobs_list(self, where: JobFilter, cursor: str | None, limit: int) -> Document:
        await self.open()
        scope = replace(where, project=self.project)
        return to.page_document(await self._jobs.list(scope, cursor, limit), to.entry_document)

    async def jobs_get(self, key: str) -> Document:
        return to.entry_document(await self._entry(key))

    async def jobs_edit(
        self, key: str, document: Document, expected_version: int | None
    ) -> Document:
        entry = await self._entry(key)
        job = await self._read(document, entry.job.id)
        changed = await self._jobs.edit(self.project, entry.job.id, job, expected_version)
        return to.changed_document(changed)

    async def jobs_pause(
        self, keys: Sequence[str], *, by: str, why: str, until: int | None
    ) -> Document:
        await self.open()
        changed = await self._jobs.pause(self.project, keys, by=by, why=why, until=until)
        return {"items": [to.changed_document(each) for each in changed]}

    async def jobs_resume(self, keys: Sequence[str]) -> Document:
        await self.open()
        changed = await self._jobs.resume(self.project, keys)
        return {"items": [to.changed_document(each) for each in changed]}

    async def jobs_delete(self, keys: Sequence[str]) -> Document:
        await self.open()
        changed = await self._jobs.delete(self.project, keys)
        return {"items": [to.changed_document(each) for each in changed]}

    async def jobs_trigger(
        self, key: str, *, payload: Any, run_at: int | None, once_key: str | None
    ) -> Document:
        entry = await self._entry(key)
        execution = await self._executions.trigger(
            self.project, entry.job.id, payload=payload, run_at=run_at, key=once_key
        )
        return to.execution_document(execution, entry.job.name, attempts=True)

    async def jobs_next(self, key: str, count: int) -> Document:
        await self.open()
        fires = await self._jobs.next_fires(self.project, key, count)
        return {"items": [to.instant_text(fire) for fire in fires]}

    async def jobs_slots(self, key: str, since: int, until: int) -> Document:
        await self.open()
        return to.slots_document(await self._slots.read(self.project, key, since, until))

    async def backfill(self, key: str, since: int, until: int, *, force: bool) -> Document:
        await self.open()
        done = await self._executions.backfill(self.project, key, since, until, force=force)
        return to.backfill_document(done)

    async def executions_list(
        self, where: ExecutionFilter, job: str | None, cursor: str | None, limit: int
    ) -> Document:
        await self.open()
        scope = replace(where, project=self.project, job_id=await self._job_id(job))
        page = await self._executions.list(scope, cursor, limit)
        names = await self._names(each.job_id for each in page.items)
        return to.page_document(
            page, lambda each: to.execution_document(each, names.get(each.job_id))
        )

    async def executions_get(self, id: str) -> Document:
        await self.open()
        execution = await self._executions.get(self.project, id)
        names = await self._names([execution.job_id])
        return to.execution_document(execution, names.get(execution.job_id), attempts=True)

    async def executions_cancel(self, ids: Sequence[str]) -> Document:
        await self.open()
        return {"ids": list(await self._executions.cancel(self.project, ids))}

    async def executions_revive(self, ids: Sequence[str]) -> Document:
        await self.open()
        return {"ids": list(await self._executions.revive(self.project, ids))}

    async def executions_repeat(self, id: str, payload: Any) -> Document:
        await self.open()
        execution = await self._executions.revive_edited(self.project, id, payload)
        names = await self._names([execution.job_id])
        return to.execution_document(execution, names.get(execution.job_id), attempts=True)

    async def dead_groups(self, where: DeadFilter, job: str | None) -> Document:
        await self.open()
        scope = replace(where, job_id=await self._job_id(job))
        groups = await self._dead.groups(self.project, scope)
        names = await self._names(group.newest.job_id for group in groups)
        return {
            "items": [to.group_document(each, names.get(each.newest.job_id)) for each in groups]
        }

    async def dead_count(self, where: DeadFilter, job: str | None) -> int:
        await self.open()
        scope = replace(where, job_id=await self._job_id(job))
        return await self._dead.count(self.project, scope)

    async def dead_revive(
        self,
        where: DeadFilter,
        job: str | None,
        *,
        rate: float | None,
        progress: Callable[[int], None],
    ) -> Document:
        await self.open()
        scope = replace(where, job_id=await self._job_id(job))
        revived = await self._dead.revive_matching(
            self.project, scope, rate=rate, rest=self._rest, progress=progress
        )
        return {"revived": revived}

    async def workers(self) -> Document:
        await self.open()
        return {"items": [to.worker_document(each) for each in await self.store.list_workers()]}

    async def checkup(self, *, fix: bool) -> Document:
        await self.open()
        found = file_findings(self.settings.store, fix=fix)
        found += await Checkup(self.store, self.project).findings(wall_millis(), fix=fix)
        return {"items": [to.finding_document(each) for each in found]}

    async def _entry(self, key: str) -> Entry:
        await self.open()
        return await self._jobs.get(self.project, key)

    async def _job_id(self, key: str | None) -> str | None:
        """A deleted job has no name any more, but its id still finds its history."""
        if key is None:
            return None
        found = await self.store.get_jobs(self.project, [key])
        if not found:
            raise NotFound("job", key)
        return found[0].job.id

    async def _names(self, ids: Iterable[str]) -> dict[str, str]:
        wanted = sorted(set(ids))
        found = await self.store.get_jobs(self.project, wanted) if wanted else []
        return {entry.job.id: entry.job.name for entry in found}

    async def _rest(self, seconds: float) -> None:
        await self.clock.wait(asyncio.Event(), seconds)


def _nobody() -> None:
    """No loop runs in this process, so that there is none to wake."""
