"""One action on all jobs that match a filter, tried out first if somebody likes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tickwell.domain.job import Entry, JobState, Pause
from tickwell.domain.policy import MINUTE
from tickwell.errors import Conflict, HandlerError, InvalidInput, NotFound
from tickwell.ids import new_id
from tickwell.ports.records import JobFilter, Record
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.operations.audit_detail import filter_document, ids_document
from tickwell.services.operations.context import OperationContext
from tickwell.services.operations.job_checks import refuse_sender

#: Jobs that one call works on.
MOST = 10_000
#: Jobs that one call to the store changes.
_BATCH = 100
_PAGE = 1000
_ALL = frozenset({JobState.ACTIVE, JobState.PAUSED, JobState.FINISHED})

Act = Callable[[Sequence[str]], Awaitable[Any]]
#: All jobs that match, or those with these ids or names.
Chosen = JobFilter | Sequence[str]


@dataclass(slots=True, kw_only=True)
class Bulk:
    """What a bulk action did, or would do."""

    dry_run: bool
    #: The names of the jobs that matched.
    matched: list[str] = field(default_factory=list)
    #: The jobs that were changed, as they were before.
    was: list[Entry] = field(default_factory=list)
    #: Why some were left as they are, by name.
    refused: dict[str, str] = field(default_factory=dict)
    #: There are more: ask again.
    more: bool = False

    @property
    def changed(self) -> int:
        """How many jobs were changed."""
        return len(self.was)


class BulkOperations:
    """Pauses, resumes, triggers and deletes jobs of the actor's project by a filter."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.OPERATE)
    async def pause(
        self,
        actor: Actor,
        where: Chosen,
        *,
        dry_run: bool,
        why: str = "",
        until: int | None = None,
    ) -> Bulk:
        """Pause those that are active."""
        jobs, project = self.context.jobs, actor.project

        async def act(ids: Sequence[str]) -> Any:
            await self._refuse_senders(actor, ids)
            return await jobs.pause(project, ids, by=actor.name, why=why, until=until)

        return await self._run(actor, "pause", where, {JobState.ACTIVE}, act, dry_run=dry_run)

    @needs(Permission.OPERATE)
    async def resume(self, actor: Actor, where: Chosen, *, dry_run: bool) -> Bulk:
        """Resume those that are paused."""

        async def act(ids: Sequence[str]) -> Any:
            await self._refuse_senders(actor, ids)
            return await self.context.jobs.resume(actor.project, ids)

        return await self._run(actor, "resume", where, {JobState.PAUSED}, act, dry_run=dry_run)

    @needs(Permission.OPERATE)
    async def trigger(
        self,
        actor: Actor,
        where: Chosen,
        *,
        dry_run: bool,
        payload: Any = None,
        key: str | None = None,
    ) -> Bulk:
        """Run each of them once, now; what a call with the same key began, another goes on with."""
        admit = None if Permission.ADMINISTER in actor.permissions else refuse_sender

        async def act(ids: Sequence[str]) -> Any:
            for id in ids:
                await self.context.executions.trigger(
                    actor.project, id, payload=payload, key=key, admit=admit
                )

        async def check(count: int) -> None:
            await self.context.limiter.check_runs(actor, count, payload)

        return await self._run(
            actor, "trigger", where, _ALL, act, dry_run=dry_run, size=1, check=check
        )

    @needs(Permission.EDIT)
    async def delete(self, actor: Actor, where: Chosen, *, dry_run: bool) -> Bulk:
        """Take them away; their history stays until retention ends."""

        async def act(ids: Sequence[str]) -> Any:
            await self._refuse_senders(actor, ids)
            return await self.context.jobs.delete(actor.project, ids)

        return await self._run(actor, "delete", where, _ALL, act, dry_run=dry_run)

    async def _refuse_senders(self, actor: Actor, ids: Sequence[str]) -> None:
        """Callbacks are the admins'."""
        if Permission.ADMINISTER in actor.permissions:
            return
        known = await jobs_by_id(self.context.store, actor.project, ids)
        for entry in known.values():
            refuse_sender(entry.job)

    async def _run(
        self,
        actor: Actor,
        action: str,
        where: Chosen,
        states: Collection[JobState],
        act: Act,
        *,
        dry_run: bool,
        size: int = _BATCH,
        check: Callable[[int], Awaitable[None]] | None = None,
    ) -> Bulk:
        entries, more = await self._matching(actor.project, where, states)
        done = Bulk(dry_run=dry_run, matched=[entry.job.name for entry in entries], more=more)
        if dry_run:
            return done
        if check is not None:
            await check(len(entries))
        after: dict[str, Any] = {"matched": len(entries)}
        if isinstance(where, JobFilter):
            after["filter"] = filter_document(where)
        after |= ids_document([entry.job.id for entry in entries])
        # First: what is broken off after some of them is on record too.
        await self.context.auditor.record(actor, f"bulk.{action}", "jobs", None, after)
        for start in range(0, len(entries), size):
            await _apply(entries[start : start + size], act, done)
        return done

    async def _matching(
        self, project: str, where: Chosen, states: Collection[JobState]
    ) -> tuple[list[Entry], bool]:
        entries: list[Entry] = []
        if not isinstance(where, JobFilter):
            entries += await self.context.store.get_jobs(project, where[:MOST])
            return [entry for entry in entries if entry.cursor.state in states], len(where) > MOST
        where = replace(where, project=project, states=where.states.intersection(states))
        cursor = None
        while len(entries) < MOST:
            page = await self.context.store.list_jobs(where, cursor, _PAGE)
            entries += page.items
            cursor = page.cursor
            if cursor is None:
                break
        return entries, cursor is not None


async def _apply(entries: Sequence[Entry], act: Act, done: Bulk) -> None:
    """All at once; one by one where somebody else came in between."""
    try:
        await act([entry.job.id for entry in entries])
    except (Conflict, NotFound, InvalidInput, HandlerError) as error:
        if len(entries) == 1:
            done.refused[entries[0].job.name] = str(error)
            return
        for entry in entries:
            await _apply([entry], act, done)
        return
    done.was += entries


KIND = "undo"
#: Milliseconds in which it can be undone.
KEPT = 10 * MINUTE


class UndoOperations:
    """Puts jobs that were paused or resumed back into the state that they were in."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context
        self.bulk = BulkOperations(context)

    @needs(Permission.OPERATE)
    async def keep(self, actor: Actor, done: Bulk) -> str | None:
        """Remember what a pause or a resumption changed; what names it, None if that is nothing."""
        if not done.was:
            return None
        now = self.context.clock.now()
        record = Record(
            kind=KIND,
            project=actor.project,
            key=new_id(now, self.context.random),
            document={"groups": _groups(done.was)},
            expires_at=now + KEPT,
        )
        await self.context.store.put_record(record, now)
        return record.key

    @needs(Permission.OPERATE)
    async def undo(self, actor: Actor, id: str) -> int:
        """Put back what was changed, once; how many jobs that are."""
        now, store = self.context.clock.now(), self.context.store
        found = await store.get_record(KIND, actor.project, id, now)
        if found is None or not await store.delete_record(KIND, actor.project, id):
            raise NotFound("undo", id)
        return sum([await self._put_back(actor, group, now) for group in found.document["groups"]])

    async def _put_back(self, actor: Actor, group: dict[str, Any], now: int) -> int:
        ids, pause = group["ids"], group["pause"]
        if pause is None:
            return (await self.bulk.resume(actor, ids, dry_run=False)).changed
        if pause["until"] is not None and pause["until"] <= now:
            return 0  # it would have been resumed by now
        return (await self.bulk.pause(actor, ids, dry_run=False, **pause)).changed


def _groups(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Jobs by the pause that they were in, which for most is none."""
    found: dict[Pause | None, list[str]] = {}
    for entry in entries:
        found.setdefault(entry.cursor.pause, []).append(entry.job.id)
    return [
        {"ids": ids, "pause": None if pause is None else {"why": pause.why, "until": pause.until}}
        for pause, ids in found.items()
    ]
