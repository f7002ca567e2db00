"""Operations on calendars that jobs share."""

from __future__ import annotations

from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Permission
from tickwell.services.calendars.book import SharedCalendar
from tickwell.services.documents import instant_text
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.records import admin
from tickwell.services.operations.records import calendars as records

GROUP = Group("calendars")


@GROUP.get("/calendars", Permission.READ, records.SharedCalendars)
async def list_calendars(call: Call) -> Document:
    """List the calendars that jobs of the project may name."""
    return {"items": [_document(each) for each in await call.use.calendars.list(call.actor)]}


@GROUP.get("/calendars/{name}", Permission.READ, records.SharedCalendar)
async def get_calendar(call: Call, name: str) -> Document:
    """Read one calendar."""
    return _document(await call.use.calendars.get(call.actor, name))


@GROUP.put(
    "/calendars/{name}",
    Permission.EDIT,
    records.CalendarSaved,
    audit="calendar.put",
    example={"dates": ["2026-12-24"], "ranges": ["2026-12-28/2026-12-31"]},
)
async def put_calendar(call: Call, name: str, body: records.CalendarToPut) -> Document:
    """Add a calendar or replace its days; the change applies at once to jobs that use it."""
    saved = await call.use.calendars.put(
        call.actor,
        name,
        dates=body.dates or (),
        ranges=[_range(each) for each in body.ranges or ()],
        country=body.country,
        subdivision=body.subdivision,
    )
    # A key may be allowed to change a calendar and not to read jobs.
    may_read = Permission.READ in call.actor.permissions
    return {
        "calendar": _document(saved.calendar),
        "jobs": saved.jobs,
        "refused": saved.refused if may_read else {},
    }


@GROUP.delete("/calendars/{name}", Permission.EDIT, admin.Done, audit="calendar.delete")
async def delete_calendar(call: Call, name: str) -> Document:
    """Delete a calendar; refused while a job uses it."""
    await call.use.calendars.delete(call.actor, name)
    return {"done": True}


def _range(text: str) -> tuple[str, str]:
    first, slash, last = text.partition("/")
    if not slash:
        reason, hint = f"{text[:40]!r} is not FROM/TO", "For example: 2026-12-28/2026-12-31"
        raise InvalidInput(reason, field="ranges", hint=hint)
    return first, last


def _document(calendar: SharedCalendar) -> Document:
    found = calendar.document()
    found["ranges"] = [f"{first}/{last}" for first, last in calendar.ranges]
    return {"name": calendar.name, **found, "saved_at": instant_text(calendar.saved_at)}
