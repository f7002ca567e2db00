"""What people read of a job's fire times, and skip of those to come."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.job import Job
from tickwell.errors import InvalidInput
from tickwell.ports.records import Page
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.documents import instant_text
from tickwell.services.jobs.skips import Skipped
from tickwell.services.operations.context import OperationContext
from tickwell.services.operations.paging import definition_size, within
from tickwell.services.slots.retention_edge import spans
from tickwell.services.slots.slots import Completeness, Slot, SlotPage, count


class SlotOperations:
    """Reads the fire times of jobs of the actor's project, and skips single ones."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.READ)
    async def next_fires(
        self, actor: Actor, key: str, count: int = 10
    ) -> tuple[Sequence[int], Sequence[int]]:
        """The next fire times as far as they are known, and those of them that are skipped."""
        context = self.context
        fires = await context.jobs.next_fires(actor.project, key, count)
        skipped = (await context.jobs.get(actor.project, key)).cursor.skipped
        return fires, [fire for fire in fires if fire in skipped]

    @needs(Permission.OPERATE)
    async def skip(self, actor: Actor, key: str, at: int, *, why: str = "") -> Skipped:
        """Skip one occurrence before it comes."""
        done = await self.context.skips.skip(actor.project, key, at, by=actor.name, why=why)
        after = {"fire_time": instant_text(at)} | ({"note": why} if why else {})
        subject = f"job/{done.entry.job.id}"
        await self.context.auditor.record(actor, "job.skip", subject, None, after)
        return done

    @needs(Permission.OPERATE)
    async def unskip(self, actor: Actor, key: str, at: int) -> Skipped:
        """Undo the skip of an occurrence that is still to come."""
        done = await self.context.skips.undo(actor.project, key, at, by=actor.name)
        before = {"fire_time": instant_text(at)}
        subject = f"job/{done.entry.job.id}"
        await self.context.auditor.record(actor, "job.unskip", subject, before, None)
        return done

    @needs(Permission.READ)
    async def read(
        self, actor: Actor, key: str, since: int, until: int
    ) -> tuple[SlotPage, Completeness]:
        """The slots in [since, until), and those of them that were due by now, counted."""
        page = await self.context.slots.read(actor.project, key, since, until)
        counted = count(page.items, self.context.clock.now())
        counted.next = page.next
        return page, counted

    @needs(Permission.READ)
    async def past(self, actor: Actor, key: str, since: int, until: int) -> Sequence[Slot]:
        """Those that a backfill of the range looks at: also from before the job existed."""
        end = min(until, self.context.clock.now() + 1)
        if since >= end:
            return []
        return (await self.context.slots.read(actor.project, key, since, end, unborn=True)).items

    @needs(Permission.READ)
    async def versions(self, actor: Actor, key: str) -> Sequence[Job]:
        """Every definition that the job ever had, newest first."""
        entry = await self.context.jobs.get(actor.project, key)
        found = await spans(self.context.store, entry, 0, self.context.clock.now())
        return [span.job for span in reversed(found)]

    @needs(Permission.READ)
    async def versions_page(self, actor: Actor, key: str, cursor: str | None) -> Page[Job]:
        """The same, as many as a page may have bytes."""
        found = await self.versions(actor, key)
        before = found[0].version + 1 if cursor is None else _number(cursor)
        left = [job for job in found if job.version < before]
        items = within(left, definition_size)
        return Page(items=items, cursor=str(items[-1].version) if len(items) < len(left) else None)


def _number(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 20):
        raise InvalidInput(
            "is not a cursor of this list",
            field="cursor",
            hint="Leave it out to start from the first page",
        )
    return int(cursor)
