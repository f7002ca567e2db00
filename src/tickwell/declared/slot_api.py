"""The scheduler's calls about the fire times of a job, by name and with datetimes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickwell.clock import to_datetime, to_millis
from tickwell.declared.internals import Internals
from tickwell.declared.owner_loop import OwnerLoop, in_owner
from tickwell.declared.read_models import Backfill, Slot, backfill_of, slot_of
from tickwell.domain.trigger.moment import exact


class SlotApi:
    """What a library user asks of fire times: which come, how each was answered, and not to run."""

    app: str
    project: str
    _inside: Internals
    _owner: OwnerLoop

    async def open(self) -> None:
        """Open the store without running anything."""

    @in_owner
    async def next_fires(self, name: str, count: int = 10) -> Sequence[datetime]:
        """The next fire times of a job, as far as they are known."""
        await self.open()
        fires = await self._inside.jobs.next_fires(self.project, name, count)
        return [to_datetime(fire) for fire in fires]

    @in_owner
    async def slots(self, name: str, *, since: datetime, until: datetime) -> Sequence[Slot]:
        """Every fire time of a job from `since` until before `until`, with its answer."""
        await self.open()
        start, end = to_millis(exact(since, "since")), to_millis(exact(until, "until"))
        page = await self._inside.slots.read(self.project, name, start, end)
        found = page.items
        while page.next is not None:
            page = await self._inside.slots.read(self.project, name, page.next, end)
            found += page.items
        return [slot_of(slot) for slot in found]

    @in_owner
    async def skip(self, name: str, *, at: datetime, why: str = "", by: str | None = None) -> None:
        """Skip one occurrence of a job before it comes, by its fire time.

        Raises `InvalidInput` with the nearest fire times if it does not fire at that instant.
        """
        await self.open()
        fire_time = to_millis(exact(at, "at"))
        author = self.app if by is None else by
        await self._inside.skips.skip(self.project, name, fire_time, by=author, why=why)

    @in_owner
    async def unskip(self, name: str, *, at: datetime, by: str | None = None) -> None:
        """Undo the skip of an occurrence, until its fire time has come."""
        await self.open()
        fire_time = to_millis(exact(at, "at"))
        author = self.app if by is None else by
        await self._inside.skips.undo(self.project, name, fire_time, by=author)

    @in_owner
    async def backfill(
        self,
        name: str,
        *,
        since: datetime,
        until: datetime,
        force: bool = False,
        dry_run: bool = False,
    ) -> Backfill:
        """Run the fire times from `since` until before `until` that have not run.

        With `force` those that ran run again, as new executions. A dry run only counts.
        """
        await self.open()
        start, end = to_millis(exact(since, "since")), to_millis(exact(until, "until"))
        done = await self._inside.executions.backfill(
            self.project, name, start, end, force=force, dry_run=dry_run
        )
        return backfill_of(done)
