"""The backend that asks a server over its API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from tickwell.cli.backend import COUNTED, Document
from tickwell.client.asynchronous import AsyncClient
from tickwell.client.calls.jobs import create_job, trigger_job
from tickwell.clock import StoreClock, to_millis, wall_millis
from tickwell.domain.document.initial_state import ACTIVE, InitialState
from tickwell.errors import InvalidInput, InvalidJob, NotFound, StoreError
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.documents import instant_text
from tickwell.services.executions.dead_letters import DeadFilter
from tickwell.services.payload import KEEP

if TYPE_CHECKING:
    from tickwell.cli.administration import Administration

#: Seconds between two looks at how far a revival is.
_LOOK = 0.25
#: Fields that a definition is sent without: read-only ones, and the state, which is sent apart.
SAID = frozenset(
    {
        *("id", "project", "version", "saved_at", "created_at", "app", "declared"),
        *("state", "next_fire_time", "pause", "cursor", "edited", "warnings"),
    }
)


class RemoteBackend:
    """Each method is an operation of the client; the key says who asks, and for which project."""

    def __init__(self, server: str, key: str, project: str | None) -> None:
        self.server = server.rstrip("/")
        self.project = project
        self.key = key
        self.client = AsyncClient(server, key=key, project=project)
        self.clock = StoreClock()

    async def close(self) -> None:
        await self.client.close()

    async def now(self) -> int:
        return wall_millis()

    async def wait(self, seconds: float) -> None:
        await self.clock.wait(asyncio.Event(), seconds)

    def allow_local(self) -> None:
        raise InvalidInput(
            "where webhooks may go is a setting of the server",
            field="allow_local",
            hint="Start it so: tickwell serve --allow-local",
        )

    async def jobs_add(
        self, document: Document, state: InitialState = ACTIVE
    ) -> tuple[Document, bool]:
        await self._check_project(document)
        body = _definition(document)
        if state.paused:
            until = None if state.until is None else instant_text(state.until)
            body |= {"state": "paused"}
            if state.why is not None or until is not None:
                body |= {"pause": {"why": state.why, "until": until}}
        answer = await self.client.answer(create_job(body))
        return answer.document, answer.status == 201

    async def jobs_list(self, where: JobFilter, cursor: str | None, limit: int) -> Document:
        chosen = where.states != JobFilter().states
        page = await self.client.list_jobs(
            state=sorted(where.states) if chosen else (),
            queue=where.queue,
            tag=where.tag,
            app=where.app,
            search=where.search,
            limit=limit,
            cursor=cursor,
        )
        return _document(page)

    async def jobs_get(self, key: str) -> Document:
        return _document(await self.client.get_job(await self._key(key)))

    async def jobs_edit(
        self, key: str, document: Document, expected_version: int | None
    ) -> Document:
        await self._check_project(document)
        version = expected_version
        return _document(
            await self.client.replace_job(
                await self._key(key), _definition(document), version=version
            )
        )

    async def jobs_pause(self, key: str, *, why: str, until: int | None) -> Document:
        return _document(
            await self.client.pause_job(await self._key(key), note=why, until=_text(until))
        )

    async def jobs_resume(self, key: str) -> Document:
        return _document(await self.client.resume_job(await self._key(key)))

    async def jobs_delete(self, key: str) -> Document:
        return _document(await self.client.delete_job(await self._key(key)))

    async def jobs_trigger(
        self, key: str, *, payload: Any, run_at: int | None, once_key: str | None
    ) -> tuple[Document, bool]:
        call = trigger_job(
            await self._key(key), payload, at=_text(run_at), idempotency_key=once_key
        )
        asked = await self.client.answer(call)
        return await self.executions_get(asked.document["id"]), not asked.replayed

    async def jobs_next(self, key: str, count: int) -> Document:
        return _document(await self.client.next_fires(await self._key(key), count=count))

    async def jobs_slots(self, key: str, since: int, until: int) -> Document:
        range_of = instant_text(since), instant_text(until)
        return _document(await self.client.job_slots(await self._key(key), *range_of))

    async def backfill(
        self, key: str, since: int, until: int, *, force: bool, dry_run: bool
    ) -> Document:
        range_of = instant_text(since), instant_text(until)
        done = self.client.backfill_job(
            await self._key(key), *range_of, force=force, dry_run=dry_run
        )
        return _document(await done)

    async def executions_list(
        self, where: ExecutionFilter, cursor: str | None, limit: int
    ) -> Document:
        page = await self.client.list_executions(
            job=where.job_id,
            state=sorted(where.states or ()),
            kind=where.kind,
            queue=where.queue,
            since=_text(where.since),
            until=_text(where.until),
            limit=limit,
            cursor=cursor,
        )
        return _document(page)

    async def executions_get(self, id: str) -> Document:
        return _document(await self.client.get_execution(id))

    async def executions_output(self, id: str, attempt: int, line: int) -> Document:
        return _document(await self.client.get_output(id, attempt=attempt, line=line))

    async def executions_cancel(self, id: str) -> Document:
        return _document(await self.client.cancel_execution(id))

    async def executions_revive(self, id: str) -> Document:
        return _document(await self.client.revive_execution(id))

    async def executions_repeat(self, id: str, payload: Any) -> Document:
        return _document(await self.client.revive_execution(id, payload))

    async def dead_groups(self, where: DeadFilter) -> Document:
        return _document(await self.client.dead_letter_groups(**_dead(where)))

    async def dead_revive(
        self,
        where: DeadFilter,
        *,
        rate: float,
        progress: Callable[[int], None],
        payload: Any = KEEP,
    ) -> Document:
        edited = {} if payload is KEEP else {"payload": payload}
        revival = await self.client.revive_dead_letters(**_dead(where), rate=rate, **edited)
        told = 0
        while revival["state"] == "running":
            await self.wait(_LOOK)
            revival = await self.client.get_revival(revival["id"])
            progress(revival["revived"] - told)
            told = revival["revived"]
        if revival["error"] is not None:
            raise StoreError(f"{told} were revived, then: {revival['error']}")
        return {name: _document(revival)[name] for name in COUNTED}

    async def dead_purge(self, where: DeadFilter, *, progress: Callable[[int], None]) -> Document:
        purged, more = 0, True
        while more:
            done = await self.client.purge_dead_letters(**_dead(where))
            purged, more = purged + done["purged"], done["more"]
            progress(done["purged"])
        return {"purged": purged}

    async def workers(self) -> Document:
        return {"items": (await self.client.list_workers())["items"]}

    async def metrics(self) -> Document:
        return _document(await self.client.get_metrics())

    async def queues_list(self) -> Document:
        return _document(await self.client.list_queues())

    async def queues_pause(self, name: str, *, why: str) -> Document:
        return _document(await self.client.pause_queue(name, note=why))

    async def queues_resume(self, name: str) -> Document:
        return _document(await self.client.resume_queue(name))

    async def administration(self) -> Administration:
        from tickwell.cli.remote_administration import RemoteAdministration

        return RemoteAdministration(self.client, self.server, self.project, self.key)

    async def checkup(self, *, fix: bool) -> Document:
        if fix:
            raise InvalidInput(
                "a server repairs nothing when asked from afar",
                field="fix",
                hint="Run tickwell doctor --fix --store … beside the store",
            )
        health = await self.client.health_details()
        if health["database"] != "connected":
            return {"items": health["findings"]}
        return {"items": (await self.client.checkup())["items"]}

    async def _key(self, key: str) -> str:
        """What can stand in an address: a name with a slash is found by a list."""
        if "/" not in key and key not in {".", ".."}:
            return key
        async for job in self.client.iter_jobs(search=key):
            if job["name"] == key:
                return job["id"]
        raise NotFound("job", key)

    async def _check_project(self, document: Document) -> None:
        """A document that was read elsewhere does not go where it does not belong."""
        named = document.get("project")
        if named is None:
            return
        project = self.project or (await self.client.get_session())["project"]
        if named != project:
            raise InvalidJob(
                f"the document belongs to {named!r}", field="project", hint=f"Use --project {named}"
            )


def _definition(document: Document) -> Document:
    return {name: value for name, value in document.items() if name not in SAID}


def _document(typed: Any) -> Document:
    return cast("Document", typed)


def _text(instant: int | None) -> str | None:
    return None if instant is None else instant_text(instant)


def _instant(text: str) -> int:
    return to_millis(datetime.fromisoformat(text))


def _dead(where: DeadFilter) -> Document:
    return {
        "job": where.job_id,
        "queue": where.queue,
        "since": _text(where.since),
        "until": _text(where.until),
        "signature": where.signature,
        "search": where.search,
    }
