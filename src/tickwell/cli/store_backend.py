"""The backend that works on a store itself, by the operations that the API offers too."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any

from tickwell.cli.allowing import LOCAL
from tickwell.cli.backend import COUNTED, Document
from tickwell.cli.issuers import issuer_findings
from tickwell.cli.store_file import check_there, file_findings, missing_file, say_created
from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.document import job_from_document
from tickwell.domain.document.initial_state import ACTIVE, InitialState
from tickwell.domain.execution import Execution
from tickwell.domain.health import Finding, Health, Level
from tickwell.domain.job import Entry, Job
from tickwell.errors import InvalidJob, NotFound, StoreError, StoreUnavailable
from tickwell.executors.http.guard import Guard, check_target
from tickwell.executors.http.resolver import SystemResolver
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services import documents as to
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.audit.audit import Audit
from tickwell.services.cursor_seal import LOCAL_SEAL
from tickwell.services.executions.dead_letters import DeadFilter
from tickwell.services.health import weak_link_findings
from tickwell.services.jobs.admission import admission, check_certificate, check_handler, check_task
from tickwell.services.keyring.source import load_keys
from tickwell.services.operations.bundle import Operations
from tickwell.services.operations.tools import Tools
from tickwell.services.payload import KEEP, checked
from tickwell.services.projects.platform import DEFAULT
from tickwell.services.projects.projects import is_known
from tickwell.services.projects.retention import read_retention
from tickwell.settings import Settings
from tickwell.wiring import health_links, leave_missing, make_store, weak_links

if TYPE_CHECKING:
    from tickwell.cli.administration import Administration

#: Seconds between two looks at how far a revival is.
_LOOK = 0.1
#: Old records that `doctor --fix` prunes at most.
_PRUNED = 10_000


class StoreBackend:
    """Opens the store at the first call. Only what adds something makes a file that is missing.

    Whoever can open the store may do everything in it: the actor is the user of this host.
    """

    def __init__(self, settings: Settings, project: str) -> None:
        self.settings = settings
        self.store = make_store(settings.store)
        self.clock = StoreClock()
        self.actor = Actor(
            name=f"local:{_user()}", project=project, permissions=frozenset(Permission)
        )
        self._tools = Tools(store=self.store, clock=self.clock, random=SystemRandom(), wake=_nobody)
        self._tools.jobs.admit = admission(self.clock, settings)
        self._tools.retention = lambda name: read_retention(self.store, name, self.clock.now())
        self.operations = Operations.over(self._tools)
        self._opened = False
        #: The file that opening the store makes: named last, after what the command did.
        self._new_file: Path | None = None

    async def open(self, *, make: bool = False) -> Operations:
        """Connect, and take over the store's time."""
        if not self._opened:
            leave = not make or self.actor.project != DEFAULT
            if leave:
                check_there(self.settings.store)
            leave_missing(self.store, leave=leave)
            self._new_file = missing_file(self.settings.store)
            await self.store.open()
            self._opened = True
            sent = self.clock.monotonic()
            self.clock.sample(await self.store.ping(), sent, self.clock.monotonic())
            if not await is_known(self.store, self.actor.project, self.clock.now()):
                raise NotFound("project", self.actor.project)
            self._write_down()
        return self.operations

    def _write_down(self) -> None:
        """Where a service keeps an audit log, what is done past the service stands in it too."""
        if (keyring := load_keys(self.settings, make=False)) is not None:
            tools, keep = self._tools, self.settings.audit_retention
            tools.auditor = Audit(self.store, self.clock, tools.random, keyring, keep=keep)

    async def close(self) -> None:
        await self.operations.dead_letters.close()
        if self._opened:
            await self.store.close()
        if self._opened and self._new_file is not None:
            say_created(self._new_file)

    async def now(self) -> int:
        return self.clock.now() if self._opened else wall_millis()

    async def wait(self, seconds: float) -> None:
        await self.store.changed(seconds)

    def allow_local(self) -> None:
        self.settings = replace(self.settings, **LOCAL)
        self._tools.jobs.admit = admission(self.clock, self.settings)

    async def jobs_add(
        self, document: Document, state: InitialState = ACTIVE
    ) -> tuple[Document, bool]:
        job = self._read(document)
        await self._check_target(job)
        do = await self.open(make=True)
        added = await do.jobs.create(self.actor, job, state=state)
        return await self._with_warnings(added.entry), added.new

    async def jobs_list(self, where: JobFilter, cursor: str | None, limit: int) -> Document:
        do = await self.open()
        scope = ("jobs", self.actor.project, where)
        page = await do.jobs.list(self.actor, where, LOCAL_SEAL.open(cursor, *scope), limit)
        page.cursor = LOCAL_SEAL.seal(page.cursor, *scope)
        return to.page_document(page, to.entry_document)

    async def jobs_get(self, key: str) -> Document:
        return await self._with_warnings(await (await self.open()).jobs.get(self.actor, key))

    async def jobs_edit(
        self, key: str, document: Document, expected_version: int | None
    ) -> Document:
        do = await self.open()
        entry = await do.jobs.get(self.actor, key)
        job = self._read(document)
        changed = await do.jobs.replace(self.actor, entry.job.id, job, expected_version)
        return to.changed_document(changed) | {"job": await self._with_warnings(changed.entry)}

    async def jobs_pause(self, key: str, *, why: str, until: int | None) -> Document:
        do = await self.open()
        return to.changed_document(await do.jobs.pause(self.actor, key, why=why, until=until))

    async def jobs_resume(self, key: str) -> Document:
        do = await self.open()
        return to.changed_document(await do.jobs.resume(self.actor, key))

    async def jobs_delete(self, key: str) -> Document:
        do = await self.open()
        return to.changed_document(await do.jobs.delete(self.actor, key))

    async def jobs_trigger(
        self, key: str, *, payload: Any, run_at: int | None, once_key: str | None
    ) -> tuple[Document, bool]:
        do, before = await self.open(), self.clock.now()
        execution = await do.executions.trigger(
            self.actor, key, payload=payload, run_at=run_at, key=once_key
        )
        return await self._whole(execution), execution.created_at >= before

    async def jobs_next(self, key: str, count: int) -> Document:
        do = await self.open()
        fires = await do.slots.next_fires(self.actor, key, count)
        return {"items": [to.instant_text(fire) for fire in fires]}

    async def jobs_slots(self, key: str, since: int, until: int) -> Document:
        do = await self.open()
        page, counted = await do.slots.read(self.actor, key, since, until)
        return {**await to.slots_document(page), "completeness": to.completeness_document(counted)}

    async def backfill(self, key: str, since: int, until: int, **how: bool) -> Document:
        do = await self.open()
        done = await do.executions.backfill(self.actor, key, since, until, **how)
        return to.backfill_document(done)

    async def executions_list(
        self, where: ExecutionFilter, cursor: str | None, limit: int
    ) -> Document:
        do = await self.open()
        if where.job_id is not None:
            entry = await do.executions.job_of(self.actor, where.job_id)
            where = replace(where, job_id=entry.job.id)
        scope = ("executions", self.actor.project, where)
        page = await do.executions.list(self.actor, where, LOCAL_SEAL.open(cursor, *scope), limit)
        page.cursor = LOCAL_SEAL.seal(page.cursor, *scope)
        names = await do.executions.names(self.actor, page.items)
        return to.page_document(
            page, lambda each: to.execution_document(each, names.get(each.job_id))
        )

    async def executions_get(self, id: str) -> Document:
        do = await self.open()
        return await self._whole(await do.executions.get(self.actor, id))

    async def executions_output(self, id: str, attempt: int, line: int) -> Document:
        do = await self.open()
        return to.tail_document(await do.executions.tail(self.actor, id, attempt, line))

    async def executions_cancel(self, id: str) -> Document:
        do = await self.open()
        return await self._whole(await do.executions.cancel(self.actor, id))

    async def executions_revive(self, id: str) -> Document:
        do = await self.open()
        return await self._whole(await do.executions.revive(self.actor, id))

    async def executions_repeat(self, id: str, payload: Any) -> Document:
        do = await self.open()
        return await self._whole(await do.executions.revive_edited(self.actor, id, payload))

    async def dead_groups(self, where: DeadFilter) -> Document:
        do = await self.open()
        groups = await do.dead_letters.groups(self.actor, where)
        names = await do.executions.names(self.actor, [group.newest for group in groups.items])
        return to.groups_document(groups, names)

    async def dead_revive(
        self,
        where: DeadFilter,
        *,
        rate: float,
        progress: Callable[[int], None],
        payload: Any = KEEP,
    ) -> Document:
        letters = (await self.open()).dead_letters
        revival = await letters.revive(self.actor, where, rate=rate, payload=payload)
        told = 0
        while revival.state == "running":
            await self.clock.wait(asyncio.Event(), _LOOK)
            revival = await letters.revival(self.actor, revival.id)
            progress(revival.revived - told)
            told = revival.revived
        if revival.error is not None:
            raise StoreError(f"{told} were revived, then: {revival.error}")
        return {name: getattr(revival, name) for name in COUNTED}

    async def dead_purge(self, where: DeadFilter, *, progress: Callable[[int], None]) -> Document:
        letters, purged, more = (await self.open()).dead_letters, 0, True
        while more:
            gone, more = await letters.purge(self.actor, where)
            purged += gone
            progress(gone)
        return {"purged": purged}

    async def workers(self) -> Document:
        do = await self.open()
        found, now = await do.workers.list(self.actor), await self.now()
        return {"items": [to.worker_document(each, now) for each in found]}

    async def queues_pause(self, name: str, *, why: str) -> Document:
        await (await self.open()).queues.pause(self.actor, name, why=why)
        return await self.queues_list()

    async def queues_resume(self, name: str) -> Document:
        await (await self.open()).queues.resume(self.actor, name)
        return await self.queues_list()

    async def metrics(self) -> Document:
        do = await self.open()
        return to.metrics_document(await do.insights.metrics(self.actor))

    async def queues_list(self) -> Document:
        do = await self.open()
        return {"items": [to.queue_document(each) for each in await do.queues.list(self.actor)]}

    async def administration(self) -> Administration:
        from tickwell.cli.store_administration import StoreAdministration

        await self.open()
        return await StoreAdministration.over(self._tools, self.settings, self.actor)

    async def checkup(self, *, fix: bool) -> Document:
        health = await self._health()
        found = [*health.findings, *issuer_findings(self.settings)]
        found += weak_link_findings(weak_links(self.settings.store, self.settings.notify))
        if health.database:
            found += file_findings(self.settings.store, fix=fix)
        if fix and health.database:
            pruned = await self.store.prune(self.clock.now(), _PRUNED)
            found.append(Finding("history", Level.GREEN, f"{pruned} old records were pruned"))
        found.sort(key=lambda each: -each.level.rank)
        return {"items": [to.finding_document(each) for each in found]}

    async def _health(self) -> Health:
        reader = self._tools.health
        reader.links = health_links(self.store, self.settings)
        try:
            await self.open()
            return await reader.of(self.actor)
        except StoreUnavailable as error:
            return await reader.unreachable(error)
        finally:
            await reader.close()

    async def _with_warnings(self, entry: Entry) -> Document:
        warnings = await self.operations.jobs.warnings(self.actor, [entry.job])
        return to.entry_document(entry, warnings)

    def _read(self, document: Document) -> Job:
        """The job of a document."""
        project = self.actor.project
        named = document.get("project", project)
        if named != project:
            raise InvalidJob(
                f"the document belongs to {named!r}", field="project", hint=f"Use --project {named}"
            )
        definition = {**to.definition_of(document), "project": project, "id": ""}
        job = job_from_document(definition)
        checked(job.payload)
        return job

    async def _check_target(self, job: Job) -> None:
        """Judge what is called before a store is opened, let alone made."""
        check_handler(job)
        check_certificate(job)
        check_task(job, self.settings.celery_tasks)
        await check_target(job.target, Guard.of(self.settings), SystemResolver())

    async def _whole(self, execution: Execution) -> Document:
        executions = self.operations.executions
        jobs = await executions.jobs(self.actor, [execution])
        document = to.whole_document(execution, jobs.get(execution.job_id))
        return document | to.notes_document(*await executions.notes(self.actor, execution.id))


def _user() -> str:
    """Who runs this; in a container a user may have a number only."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _nobody() -> None:
    """No loop runs in this process, so that there is none to wake."""
