"""Commands on a store itself: the same operations as the API, carried out in this process."""

from __future__ import annotations

import os
import shlex
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any

import typer

from tickwell.cli.config.allowing import LOCAL, issuer_findings
from tickwell.cli.connection.connection import Connection, Document
from tickwell.client.base import BaseClient
from tickwell.client.call import Answer
from tickwell.client.call import Call as Asked
from tickwell.clock import Clock, StoreClock, wall_millis
from tickwell.domain.health import Finding, Health, Level
from tickwell.domain.payload import checked
from tickwell.errors import InvalidSetting, NotFound, StoreRefused, StoreUnavailable
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.cursor_seal import LOCAL_SEAL, CursorSeal
from tickwell.services.documents import finding_document
from tickwell.services.health import weak_link_findings
from tickwell.services.jobs.admission import (
    admission,
    check_certificate,
    check_handler,
    check_hosts,
    check_task,
)
from tickwell.services.keyring.source import load_keys
from tickwell.services.operations import OperationContext, Operations
from tickwell.services.operations.catalog import operation as operation_named
from tickwell.services.operations.declaration import Call, Many, run
from tickwell.services.operations.job_bodies import definition
from tickwell.services.projects.platform import DEFAULT
from tickwell.services.projects.projects import is_known, read_retention
from tickwell.settings import Settings
from tickwell.wiring import health_links, leave_missing, make_store, store_file, weak_links

if TYPE_CHECKING:
    from tickwell.services.admin.admin import AdminServices

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_there(url: str) -> None:
    """Refuse to make an empty store only to say that nothing is in it."""
    if url.startswith("memory:"):
        raise InvalidSetting(
            "memory:// lives only as long as this command",
            field="store",
            hint="Name the store of your service, e.g. --store sqlite:///tickwell.db",
        )
    path = store_file(url)
    if path is not None and not path.exists():
        raise StoreRefused(
            f"{path} does not exist; name another --store, or create it: tickwell jobs add,"
            " tickwell serve or tickwell store migrate"
        )


def missing_file(url: str) -> Path | None:
    """The file that opening a store makes; None: it exists, or the store is no file."""
    path = None if url.startswith("memory:") else store_file(url)
    return None if path is None or path.exists() else path


def say_created(path: Path) -> None:
    """Say that a store was made: in another folder than the service's, nothing runs its jobs."""
    new = shlex.quote(f"sqlite:///{path.resolve()}")
    typer.echo(
        f"Created a new store, {path.resolve()}; no process serves it yet. Start one:"
        f" tickwell serve --store {new}. If a service runs already, name its store instead:"
        " --store URL, or TICKWELL_STORE",
        err=True,
    )


def file_findings(url: str, *, fix: bool) -> list[Finding]:
    """Payloads and headers are in the file: whether others can read it."""
    path = store_file(url)
    if path is None or not path.stat().st_mode & _OTHERS:
        return []
    if fix:
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            if path.with_name(name).exists():
                path.with_name(name).chmod(stat.S_IRUSR | stat.S_IWUSR)
        return [Finding("file", Level.GREEN, f"{path} can now be read by its owner only")]
    text = f"{path} can be read by other users of this host"
    return [Finding("file", Level.AMBER, text, "Repair it: tickwell doctor --fix")]


#: Old records that `doctor --fix` prunes at most.
_PRUNED = 10_000
#: The only operation that makes a store that is missing.
_MAKES = "create_job"


@dataclass(slots=True, kw_only=True)
class LocalServices:
    """What handlers work with here."""

    operations: Operations
    clock: Clock
    cursors: CursorSeal
    admin: AdminServices | None = None


class StoreConnection(Connection):
    """Opens the store at the first call.

    A process that can open the store may do everything in it: the actor is the user of this host.
    """

    def __init__(self, settings: Settings, project: str) -> None:
        self.settings = settings
        self.store = make_store(settings.store)
        self.clock = StoreClock()
        self.actor = Actor(
            name=f"local:{_user()}", project=project, permissions=frozenset(Permission)
        )
        self._operation_context = OperationContext(
            store=self.store,
            clock=self.clock,
            random=SystemRandom(),
            wake=_no_loop,
            public_url=settings.public_url,
        )
        self._operation_context.jobs.admit = admission(self.clock, settings)
        self._operation_context.retention = lambda name: read_retention(
            self.store, name, self.clock.now()
        )
        self.operations = Operations.over(self._operation_context)
        self._services = LocalServices(
            operations=self.operations, clock=self.clock, cursors=LOCAL_SEAL
        )
        self.client = BaseClient(self)
        self._opened = False
        #: The file that opening the store makes: reported last, after what the command did.
        self._new_file: Path | None = None

    async def answer(self, asked: Asked[Any]) -> Answer:
        """Carry a call of the client out."""
        operation = operation_named(asked.operation)
        if operation.id == _MAKES:
            await self._check_definition(asked.body)
        await self.open(make=operation.id == _MAKES)
        if operation.administers and self._services.admin is None:
            from tickwell.services.admin.admin import open_admin

            self._services.admin = await open_admin(self._operation_context, self.settings)
        call = Call(
            services=self._services,
            actor=self.actor,
            document=asked.body,
            version=asked.version,
            idempotency_key=asked.idempotency_key,
            origin=self._origin,
        )
        query = None if operation.query is None else operation.query.read_query(asked.query)
        found = await run(operation, call, dict(asked.arguments), query)
        document = found.document
        if isinstance(document, Many):
            document = document.document()
        status = operation.status if found.status is None else found.status
        return Answer(status, document, found.replayed)

    async def open(self, *, make: bool = False) -> None:
        """Connect, and take over the store's time."""
        if self._opened:
            return
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
        # Where a service keeps an audit log, what is done past the service is in it too.
        if (keyring := load_keys(self.settings, make=False)) is not None:
            from tickwell.services.audit.audit import Audit

            operation_context, keep = self._operation_context, self.settings.audit_retention
            operation_context.auditor = Audit(
                self.store, self.clock, operation_context.random, keyring, keep=keep
            )

    async def close(self) -> None:
        await self.operations.dead_letters.close()
        if self._opened:
            await self.store.close()
        if self._opened and self._new_file is not None:
            say_created(self._new_file)

    async def now(self) -> int:
        if not self._opened and _exists(self.settings.store):
            with suppress(StoreUnavailable):  # the operation that follows says so
                await self.open()
        return self.clock.now() if self._opened else wall_millis()

    async def project(self) -> str:
        return self.actor.project

    async def wait(self, seconds: float) -> None:
        await self.store.changed(seconds)

    def allow_local(self) -> None:
        self.settings = replace(self.settings, **LOCAL)
        self._operation_context.jobs.admit = admission(self.clock, self.settings)

    async def doctor(self, *, fix: bool) -> list[Document]:
        health = await self._health()
        found = [*health.findings, *issuer_findings(self.settings)]
        found += weak_link_findings(weak_links(self.settings.store, self.settings))
        if health.database:
            found += file_findings(self.settings.store, fix=fix)
        if fix and health.database:
            pruned = await self.store.prune(self.clock.now(), _PRUNED)
            found.append(Finding("history", Level.GREEN, f"{pruned} old records were pruned"))
        found.sort(key=lambda each: -each.level.rank)
        return [finding_document(each) for each in found]

    async def _health(self) -> Health:
        reader = self._operation_context.health
        reader.links = health_links(self.store, self.settings)
        try:
            await self.open()
            return await reader.of(self.actor)
        except StoreUnavailable as error:
            return await reader.unreachable(error)
        finally:
            await reader.close()

    async def _check_definition(self, document: Any) -> None:
        """Refuse a bad definition before a store is opened, let alone made."""
        from tickwell.executors.http.network.guard import Guard, check_target
        from tickwell.executors.http.network.resolver import SystemResolver

        read, _ = definition(document)
        job = replace(read, project=self.actor.project)
        checked(job.payload)
        check_handler(job)
        check_certificate(job)
        check_task(job, self.settings.celery_tasks)
        guard = Guard.of(self.settings)
        check_hosts(job, guard)
        await check_target(job.target, guard, SystemResolver())

    def _origin(self) -> str:
        settings = self.settings
        if settings.public_url:
            return settings.public_url.rstrip("/")
        scheme = "https" if settings.tls_cert else "http"
        host = "localhost" if settings.host in {"0.0.0.0", "::"} else settings.host  # noqa: S104
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _exists(url: str) -> bool:
    """Whether there is a store whose time can be read without making one."""
    return not url.startswith("memory:") and missing_file(url) is None


def _user() -> str:
    """The user of this process; in a container a user may have a number only."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _no_loop() -> None:
    """No loop runs in this process, so there is none to wake."""
