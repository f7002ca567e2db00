"""What people do with the calendars of a project."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.trigger.calendar import Dates, Ranges
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.calendars.book import SharedCalendar
from tickwell.services.calendars.calendars import Calendars, Saved
from tickwell.services.operations.context import OperationContext


class CalendarOperations:
    """Saves, reads and deletes calendars of the actor's project."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context
        self._calendars = Calendars(context.store, context.jobs)

    @needs(Permission.EDIT)
    async def put(
        self,
        actor: Actor,
        name: str,
        *,
        dates: Dates = (),
        ranges: Ranges = (),
        country: str | None = None,
        subdivision: str | None = None,
    ) -> Saved:
        """Add a calendar or replace its days; the change applies at once to jobs that use it."""
        saved = await self._calendars.put(
            actor.project,
            name,
            dates=dates,
            ranges=ranges,
            country=country,
            subdivision=subdivision,
            by=actor.name,
        )
        days = len(saved.calendar.calendar().dates) + len(saved.calendar.ranges)
        after = {"version": saved.calendar.version, "days": days, "jobs": saved.jobs}
        await self.context.auditor.record(actor, "calendar.put", f"calendar/{name}", None, after)
        return saved

    @needs(Permission.EDIT)
    async def renew(self, actor: Actor, name: str) -> Saved:
        """Compute the public holidays of a calendar again: the law may have changed."""
        known = await self._calendars.get(actor.project, name)
        return await self.put(
            actor,
            name,
            dates=known.dates,
            ranges=known.ranges,
            country=known.country,
            subdivision=known.subdivision,
        )

    @needs(Permission.READ)
    async def get(self, actor: Actor, name: str) -> SharedCalendar:
        """One calendar."""
        return await self._calendars.get(actor.project, name)

    @needs(Permission.READ)
    async def list(self, actor: Actor) -> Sequence[SharedCalendar]:
        """All, by name."""
        return await self._calendars.list(actor.project)

    @needs(Permission.EDIT)
    async def delete(self, actor: Actor, name: str) -> None:
        """Delete a calendar that no job uses."""
        deleted = await self._calendars.delete(actor.project, name)
        before = {"version": deleted.version}
        await self.context.auditor.record(
            actor, "calendar.delete", f"calendar/{name}", before, None
        )
