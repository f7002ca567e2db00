"""Calendars of a project: saved, listed, deleted; a change is a change of the jobs that use it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date

from tickwell.clock import to_datetime
from tickwell.domain.job import Entry, JobState
from tickwell.domain.trigger.calendar import Calendar, Dates, Ranges
from tickwell.domain.trigger.shared_calendars import shared_calendars
from tickwell.errors import Conflict, InvalidInput, InvalidJob, InvalidTrigger, NotFound
from tickwell.ports.records import JobFilter, Record
from tickwell.ports.store import Store
from tickwell.services.calendars.book import KIND, MOST, SharedCalendar, read_calendar
from tickwell.services.calendars.holidays import public_holidays
from tickwell.services.jobs.jobs import Jobs

#: Years of public holidays that are computed, with the one before.
YEARS = 10
_PAGE = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(slots=True, kw_only=True)
class Saved:
    """A calendar, and what became of the jobs that use it."""

    calendar: SharedCalendar
    #: How many were saved anew.
    jobs: int = 0
    #: Those that were not, by name, with the reason: they keep the days that they had.
    refused: dict[str, str] = field(default_factory=dict)


class Calendars:
    """Of any project."""

    def __init__(self, store: Store, jobs: Jobs) -> None:
        self._store = store
        self._jobs = jobs

    async def put(
        self,
        project: str,
        name: str,
        *,
        dates: Dates = (),
        ranges: Ranges = (),
        country: str | None = None,
        subdivision: str | None = None,
        by: str,
    ) -> Saved:
        """Add a calendar or replace its days; the change applies at once to jobs that use it."""
        now = self._jobs.clock.now()
        if not _NAME.fullmatch(name):
            reason = "is not made of up to 100 letters, digits, dots, dashes and underscores"
            raise InvalidInput(reason, field="name", hint="For example: it-holidays")
        requested = Calendar(name, dates, ranges=ranges, version=0)
        if not (requested.dates or requested.ranges or country):
            hint = 'For example "country": "IT", or "dates": ["2026-12-25"]'
            raise InvalidInput("needs a country, dates or ranges", field="dates", hint=hint)
        found = list[date]()
        if country is not None:
            year = to_datetime(now).year
            found = public_holidays(country, subdivision, range(year - 1, year + YEARS))
        elif subdivision is not None:
            raise InvalidInput("belongs to a country", field="subdivision")
        record = await self._store.get_record(KIND, project, name, now)
        if record is None:
            await self._require_room(project, now)
        calendar = SharedCalendar(
            name=name,
            dates=requested.dates,
            ranges=requested.ranges,
            country=country,
            subdivision=subdivision,
            holidays=tuple(found),
            version=read_calendar(record).version + 1 if record else 1,
            saved_at=now,
            by=by,
        )
        calendar.calendar()  # with its holidays it may have too many days
        stored = Record(kind=KIND, project=project, key=name, document=calendar.document())
        if not await self._store.put_record(stored, now, record.version if record else 0):
            raise Conflict(f"calendar {name!r} was changed at the same moment; repeat it")
        saved = Saved(calendar=calendar)
        async for entry in self._users(project, name):
            await self._save_anew(entry, saved)
        return saved

    async def get(self, project: str, name: str) -> SharedCalendar:
        """One calendar."""
        record = await self._store.get_record(KIND, project, name, self._jobs.clock.now())
        if record is None:
            raise NotFound("calendar", name)
        return read_calendar(record)

    async def list(self, project: str) -> list[SharedCalendar]:
        """All, by name."""
        records = await self._store.list_records(KIND, project, "", self._jobs.clock.now(), MOST)
        return [read_calendar(record) for record in records]

    async def delete(self, project: str, name: str) -> SharedCalendar:
        """Delete a calendar that no job uses."""
        calendar = await self.get(project, name)
        users = [entry.job.name async for entry in self._users(project, name)]
        if users:
            named = ", ".join(users[:5])
            more = f" and {len(users) - 5} more" if len(users) > 5 else ""
            raise Conflict(f"calendar {name!r} is used by {named}{more}; edit these jobs first")
        if not await self._store.delete_record(KIND, project, name):
            raise NotFound("calendar", name)
        return calendar

    async def _require_room(self, project: str, now: int) -> None:
        if len(await self._store.list_records(KIND, project, "", now, MOST)) >= MOST:
            raise InvalidInput(f"a project has {MOST} calendars at most")

    async def _users(self, project: str, name: str) -> AsyncIterator[Entry]:
        """The jobs that name a calendar."""
        cursor: str | None = None
        while True:
            page = await self._store.list_jobs(JobFilter(project=project), cursor, _PAGE)
            for entry in page.items:
                if any(each.name == name for each in shared_calendars(entry.job.trigger)):
                    yield entry
            cursor = page.cursor
            if cursor is None:
                return

    async def _save_anew(self, entry: Entry, saved: Saved) -> None:
        job, project = entry.job, entry.job.project
        if entry.cursor.state is JobState.FINISHED:
            return
        try:
            await self._jobs.refresh_calendars(project, job.id)
        except NotFound:  # deleted meanwhile
            return
        except (InvalidTrigger, InvalidJob) as error:
            saved.refused[job.name] = str(error)
        else:
            saved.jobs += 1
