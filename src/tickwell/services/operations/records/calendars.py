"""Shapes of calendars that jobs share."""

from __future__ import annotations

from tickwell.services.operations.schema import Input, Instant, Output, field


class CalendarToPut(Input):
    """The days: a country's public holidays, dates and ranges, all of them together."""

    country: str | None = field(None, description="ISO code of two letters.", example="IT")
    subdivision: str | None = field(None, description="A part of the country.", example="BZ")
    dates: list[str] | None = field(None, max_length=2000, example=["2026-12-24"])
    ranges: list[str] | None = field(
        None,
        max_length=2000,
        description="First and last day of each.",
        example=["2026-12-28/2026-12-31"],
    )


class SharedCalendar(Output):
    """A calendar that jobs name."""

    name: str = field(example="it-holidays")
    country: str | None
    subdivision: str | None
    dates: list[str] = field(description="Days besides the country's holidays.")
    ranges: list[str] = field(example=["2026-12-28/2026-12-31"])
    holidays: list[str] = field(description="The country's holidays of the years computed.")
    version: int
    saved_at: Instant
    by: str


class SharedCalendars(Output):
    """The calendars of the project, by name."""

    items: list[SharedCalendar]


class CalendarSaved(Output):
    """A calendar, and what became of the jobs that use it."""

    calendar: SharedCalendar
    jobs: int = field(description="Jobs that fire by its new days.")
    refused: dict[str, str] = field(
        description="Jobs that keep the former days, by name, with the reason."
    )
