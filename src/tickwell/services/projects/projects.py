"""Projects: made, listed, exported and deleted; everything else lives in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tickwell.domain.document.job import retention_from_document, retention_to_document
from tickwell.domain.fairness import DELETED_FOR, DELETED_KIND, PROJECT_KIND
from tickwell.domain.maintenance import MAINTENANCE_KIND
from tickwell.domain.policy import Retention
from tickwell.domain.project_pause import PROJECT_PAUSE_KIND
from tickwell.engine.planning.maintenance import read_records
from tickwell.errors import Conflict, NotFound
from tickwell.ports.records import JobFilter, Record
from tickwell.ports.store import CatalogStore, RecordStore
from tickwell.services.access import keys
from tickwell.services.access.actor import Actor, Permission, Role, needs
from tickwell.services.access.directory import Directory
from tickwell.services.access.members import give_role, without
from tickwell.services.alerts import book as alerts
from tickwell.services.audit.audit import Audit
from tickwell.services.calendars.book import KIND as CALENDAR
from tickwell.services.calendars.book import MOST as MOST_CALENDARS
from tickwell.services.documents import definition_of, entry_document
from tickwell.services.every_record import every_record
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.monitors.tokens import Tokens as PingTokens
from tickwell.services.projects.platform import DEFAULT, PLATFORM, check_project_name
from tickwell.services.secrets.secret import KIND as SECRET
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache

RETENTION_KIND = "retention"


class Retentions:
    """One for each project, else the one that is built in."""

    def __init__(self, store: RecordStore, clock: Time, audit: Audit) -> None:
        self._store = store
        self._clock = clock
        self._audit = audit
        self._known: TtlCache[str, Retention] = TtlCache(clock)

    @needs(Permission.READ)
    async def get(self, actor: Actor) -> Retention:
        """What the actor's project gives to new jobs."""
        return await self._read(actor.project)

    @needs(Permission.ADMINISTER)
    async def set(self, actor: Actor, retention: Retention) -> Retention:
        """Give it to jobs that are made from now on; those there are keep what they have."""
        before = retention_to_document(await self._read(actor.project))
        after = retention_to_document(retention)
        record = Record(
            kind=RETENTION_KIND, project=actor.project, key=RETENTION_KIND, document=after
        )
        await self._store.put_record(record, self._clock.now())
        self._known.forget(actor.project)
        await self._audit.record(actor, "retention.set", "retention", before, after)
        return retention

    async def of(self, project: str) -> Retention:
        """The same, remembered for a moment."""
        return await self._known.get(project, lambda: self._read(project))

    async def _read(self, project: str) -> Retention:
        return await read_retention(self._store, project, self._clock.now())


async def read_retention(store: RecordStore, project: str, now: int) -> Retention:
    """What a project gives to new jobs."""
    record = await store.get_record(RETENTION_KIND, project, RETENTION_KIND, now)
    return retention_from_document(record.document) if record else Retention()


async def built_in(_project: str) -> Retention:
    """Where nothing is administered."""
    return Retention()


_PAGE = 500


class ProjectStore(CatalogStore, RecordStore, Protocol):
    """What projects need of a store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A tenant."""

    name: str
    title: str
    created_at: int
    created_by: str
    #: A deleted project's name is not given away again: its history stays until it is pruned.
    deleted_at: int | None = None


class Projects:
    """What a platform admin does with projects."""

    def __init__(
        self,
        store: ProjectStore,
        clock: Time,
        directory: Directory,
        *,
        jobs: Jobs,
        audit: Audit,
    ) -> None:
        self._store = store
        self._clock = clock
        self._directory = directory
        self._jobs = jobs
        self._audit = audit
        self._names: TtlCache[str, Sequence[str]] = TtlCache(clock)
        self._deleted: TtlCache[str, bool] = TtlCache(clock)

    @needs(Permission.PLATFORM)
    async def create(
        self, actor: Actor, name: str, *, title: str = "", admin: str | None = None
    ) -> Project:
        """Make a project; `admin` is its first member, by default the caller."""
        made = await self.ensure(check_project_name(name), by=actor.name, title=title)
        if made is None:
            raise Conflict(f"a project named {name!r} exists, or existed before")
        first = admin or actor.name.removeprefix("user:")
        if admin or actor.name.startswith("user:"):
            await give_role(self._directory, self._clock, first, name, Role.ADMIN)
        await self._note(actor, "project.create", name, None, {"title": title, "admin": first})
        return made

    async def ensure(self, name: str, *, by: str, title: str = "") -> Project | None:
        """Make a project unless it is there; None when it is."""
        now = self._clock.now()
        project = Project(name=name, title=title, created_at=now, created_by=by)
        return project if await self._put(project, 0) else None

    @needs(Permission.PLATFORM)
    async def list(self, actor: Actor) -> list[Project]:
        """All projects that are not deleted, by name."""
        records = every_record(self._store, PROJECT_KIND, PLATFORM, self._clock.now())
        found = [_project(record) async for record in records]
        return [project for project in found if project.deleted_at is None]

    @needs(Permission.PLATFORM)
    async def names(self, actor: Actor) -> Sequence[str]:
        """Their names, remembered for a moment: every page offers them."""

        async def read() -> Sequence[str]:
            return [project.name for project in await self.list(actor)]

        return await self._names.get(PROJECT_KIND, read)

    @needs(Permission.PLATFORM)
    async def get(self, actor: Actor, name: str) -> Project:
        """One project."""
        return await self._existing(name)

    async def is_known(self, name: str) -> bool:
        """Whether there is such a project, for those who may be in all of them."""
        return await is_known(self._store, name, self._clock.now())

    async def is_deleted(self, name: str) -> bool:
        """Whether there was such a project, as of a few seconds ago."""
        return await self._deleted.get(name, lambda: self._read_deleted(name))

    async def _read_deleted(self, name: str) -> bool:
        record = await self._store.get_record(PROJECT_KIND, PLATFORM, name, self._clock.now())
        return record is not None and _project(record).deleted_at is not None

    @needs(Permission.PLATFORM)
    async def appoint(self, actor: Actor, name: str, user: str) -> None:
        """Make a user an admin of a project: the way in when its last one is gone."""
        await self._existing(name)
        before = await give_role(self._directory, self._clock, user, name, Role.ADMIN)
        role = None if before is None else before.value
        await self._note(actor, "project.appoint", name, {"role": role}, {"admin": user})

    @needs(Permission.PLATFORM)
    async def export(self, actor: Actor, name: str) -> dict[str, Any]:
        """Everything that can be made again from a document: definitions, members, not secrets."""
        project = await self._existing(name)
        secrets = every_record(self._store, SECRET, name, self._clock.now())
        members = await self._directory.members(name)
        document = {
            "project": {"name": project.name, "title": project.title},
            "jobs": await self._definitions(name),
            "members": {user.name: user.roles[name].value for user in members},
            "secrets": [record.key async for record in secrets],
        }
        await self._note(actor, "project.export", name, None, {"jobs": len(document["jobs"])})
        return document

    @needs(Permission.PLATFORM)
    async def delete(self, actor: Actor, name: str) -> None:
        """Take a project away: its keys and members at once, its jobs, its secrets."""
        if name == DEFAULT:
            raise Conflict(
                f"the project {DEFAULT} cannot be deleted: it is used wherever no project is"
                " named; delete its jobs instead"
            )
        record = await self._existing_record(name)
        project = _project(record)
        now = self._clock.now()
        # First: what is broken off after some of it is on record too.
        await self._note(actor, "project.delete", name, {"title": project.title}, None)
        # Then who could write; the project itself last, so that half a deletion can be repeated.
        async for key in every_record(self._store, keys.KIND, name, now):
            await self._store.delete_record(keys.KIND, name, key.key)
        for user in await self._directory.members(name):
            await self._directory.change(user.name, lambda each: without(each, name, gone=True))
        await self._delete_jobs(name)
        async for secret in every_record(self._store, SECRET, name, now):
            await self._store.delete_record(SECRET, name, secret.key)
        for calendar in await self._store.list_records(CALENDAR, name, "", now, MOST_CALENDARS):
            await self._store.delete_record(CALENDAR, name, calendar.key)
        await self._store.delete_record(PROJECT_PAUSE_KIND, PLATFORM, name)
        for window in await read_records(self._store, now, f"{name}/"):
            await self._store.delete_record(MAINTENANCE_KIND, PLATFORM, window.key)
        await alerts.forget(self._store, name, now)
        await PingTokens(self._store).forget(name, now)
        # Other processes let people in for seconds yet: what they add is deleted by any reaper.
        await self._store.put_record(
            Record(
                kind=DELETED_KIND,
                project=PLATFORM,
                key=name,
                document={},
                expires_at=self._clock.now() + DELETED_FOR,
            ),
            now,
        )
        record.document |= {"deleted_at": now}
        if not await self._store.put_record(record, now, record.version):
            raise Conflict(f"project {name!r} was changed at the same moment; repeat it")
        self._forget(name)
        # What somebody was adding who had been let in before, while the others were deleted.
        await self._delete_jobs(name)

    async def _delete_jobs(self, name: str) -> None:
        while True:
            page = await self._jobs.list(JobFilter(project=name), limit=_PAGE)
            if not page.items:
                return
            await self._jobs.delete(name, [entry.job.id for entry in page.items])

    async def _definitions(self, name: str) -> Sequence[dict[str, Any]]:
        found: Sequence[dict[str, Any]] = []
        cursor = None
        while True:
            page = await self._jobs.list(JobFilter(project=name), cursor, _PAGE)
            found = [*found, *(definition_of(entry_document(entry)) for entry in page.items)]
            cursor = page.cursor
            if cursor is None:
                return found

    async def _existing_record(self, name: str) -> Record:
        record = await self._store.get_record(PROJECT_KIND, PLATFORM, name, self._clock.now())
        if record is None or _project(record).deleted_at is not None:
            raise NotFound("project", name)
        return record

    async def _existing(self, name: str) -> Project:
        return _project(await self._existing_record(name))

    async def _put(self, project: Project, expected: int) -> bool:
        document = {
            "title": project.title,
            "created_at": project.created_at,
            "created_by": project.created_by,
            "deleted_at": project.deleted_at,
        }
        record = Record(kind=PROJECT_KIND, project=PLATFORM, key=project.name, document=document)
        return await self._store.put_record(record, self._clock.now(), expected)

    def _forget(self, name: str) -> None:
        self._names.forget(PROJECT_KIND)
        self._deleted.forget(name)

    async def _note(self, actor: Actor, action: str, name: str, before: Any, after: Any) -> None:
        self._forget(name)
        await self._audit.record(actor, action, f"project/{name}", before, after, project=PLATFORM)


async def is_known(store: ProjectStore, name: str, now: int) -> bool:
    """Whether somebody made the project, or an application put jobs into it."""
    if name == DEFAULT:
        return True
    record = await store.get_record(PROJECT_KIND, PLATFORM, name, now)
    if record is not None:
        return _project(record).deleted_at is None
    return bool((await store.list_jobs(JobFilter(project=name), limit=1)).items)


def _project(record: Record) -> Project:
    fields = ("title", "created_at", "created_by", "deleted_at")
    return Project(name=record.key, **{name: record.document[name] for name in fields})
