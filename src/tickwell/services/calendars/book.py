"""Reads calendars of a project, and puts their days into the triggers that name them.

The days are kept in the job: every process fires by them without looking anything up, and a
former version of the job keeps those that it had. A change of a calendar saves its jobs anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from tickwell.domain.job import Job, copied
from tickwell.domain.trigger.calendar import Calendar
from tickwell.domain.trigger.shared_calendars import shared_calendars, with_calendars
from tickwell.errors import InvalidTrigger
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore

KIND = "calendar"
#: Calendars of one project.
MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCalendar:
    """A calendar of a project."""

    name: str
    #: Days that somebody listed; those of the country are not among them.
    dates: tuple[date, ...]
    ranges: tuple[tuple[date, date], ...]
    #: Its public holidays are closed, too.
    country: str | None
    subdivision: str | None
    #: Those holidays, for the years that were computed.
    holidays: tuple[date, ...]
    #: Counts changes.
    version: int
    saved_at: int
    by: str

    def calendar(self) -> Calendar:
        """As triggers have it."""
        return Calendar(
            self.name,
            {*self.dates, *self.holidays},
            ranges=self.ranges,
            version=self.version,
        )

    @property
    def last_day(self) -> date:
        """After it, triggers fire as if there were no calendar."""
        return max((*self.dates, *self.holidays, *(last for _, last in self.ranges)))

    @property
    def ends_on(self) -> date | None:
        """The last day of a list of holidays, which is to go on; ranges alone may end."""
        if self.country is not None:
            return max(self.holidays, default=None)
        return self.last_day if self.dates else None

    @property
    def days_text(self) -> str:
        """The days that somebody listed, one a line, as the page takes them."""
        ranges = [f"{first}/{last}" for first, last in self.ranges]
        return "\n".join([*map(str, self.dates), *ranges])

    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "dates": [str(day) for day in self.dates],
            "ranges": [{"from": str(first), "to": str(last)} for first, last in self.ranges],
            "country": self.country,
            "subdivision": self.subdivision,
            "holidays": [str(day) for day in self.holidays],
            "version": self.version,
            "saved_at": self.saved_at,
            "by": self.by,
        }


def read_calendar(record: Record) -> SharedCalendar:
    """What a record has."""
    found = record.document
    return SharedCalendar(
        name=record.key,
        dates=_days(found["dates"]),
        ranges=tuple(
            (date.fromisoformat(each["from"]), date.fromisoformat(each["to"]))
            for each in found["ranges"]
        ),
        country=found["country"],
        subdivision=found["subdivision"],
        holidays=_days(found["holidays"]),
        version=found["version"],
        saved_at=found["saved_at"],
        by=found["by"],
    )


def _days(texts: Iterable[str]) -> tuple[date, ...]:
    return tuple(date.fromisoformat(text) for text in texts)


class CalendarBook:
    """Looks calendars up."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    async def find(self, project: str, name: str, now: int) -> SharedCalendar | None:
        """A calendar by its name."""
        record = await self._store.get_record(KIND, project, name, now)
        return None if record is None else read_calendar(record)

    async def put_in(
        self, jobs: Sequence[Job], now: int, project: str | None = None
    ) -> Sequence[Job]:
        """The same jobs, those that name calendars with the days of these."""
        known: dict[tuple[str, str], Calendar] = {}
        found = list[Job]()
        for job in jobs:
            for each in shared_calendars(job.trigger):
                key = project or job.project, each.name
                if key not in known:
                    known[key] = await self._existing(*key, now)
            if known:
                mine = {
                    name: days
                    for (owner, name), days in known.items()
                    if owner == (project or job.project)
                }
                trigger = with_calendars(job.trigger, mine)
                job = job if trigger is job.trigger else copied(job, trigger=trigger)  # noqa: PLW2901
            found.append(job)
        return found if known else jobs

    async def stale(self, jobs: Iterable[Job], now: int) -> list[Job]:
        """Those of some jobs whose calendars were changed since they were looked up."""
        found = list[Job]()
        for job in jobs:
            for each in shared_calendars(job.trigger):
                latest = await self.find(job.project, each.name, now)
                if latest is not None and latest.version != each.version:
                    found.append(job)
                    break
        return found

    async def _existing(self, project: str, name: str, now: int) -> Calendar:
        found = await self.find(project, name, now)
        if found is None:
            hint = f"Add it first: tickwell calendars put {name} --date 2026-12-25"
            reason = f"no calendar {name!r} in this project"
            raise InvalidTrigger(reason, field="trigger.exclude", hint=hint)
        return found.calendar()
