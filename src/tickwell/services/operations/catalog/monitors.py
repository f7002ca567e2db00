"""Operations on monitors."""

from __future__ import annotations

from tickwell.domain.trigger import trigger_to_document
from tickwell.domain.trigger.document_reading import read_trigger
from tickwell.domain.trigger.duration import format_duration
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Permission
from tickwell.services.documents import instant_text
from tickwell.services.monitors.definition import GRACE, period_trigger
from tickwell.services.monitors.state import Monitor
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.records import monitors as records

GROUP = Group("monitors")


@GROUP.get("/monitors", Permission.READ, records.MonitorPage)
async def list_monitors(call: Call, query: records.MonitorQuery) -> Document:
    """List monitors by name, with their status."""
    scope = "monitors", call.actor.project
    after = call.open_cursor(query.cursor, *scope)
    page = await call.use.monitors.list(call.actor, after, query.limit)
    return {
        "items": [_document(each) for each in page.items],
        "next_cursor": call.seal_cursor(page.cursor, *scope),
    }


@GROUP.post(
    "/monitors",
    Permission.EDIT,
    records.NewMonitor,
    status=201,
    audit="job.create",
    example={"name": "backup", "trigger": {"cron": "0 3 * * *"}, "grace": "30m"},
    one_time=True,
)
async def create_monitor(call: Call, body: records.MonitorToMake) -> Document:
    """Add a monitor for a job that runs elsewhere; its ping URL is shown once, here."""
    if (body.trigger is None) == (body.every is None):
        reason, hint = "exactly one of `trigger` and `every` is needed", 'For example "every": "1d"'
        raise InvalidInput(reason, field="trigger", hint=hint)
    if body.every is not None:
        trigger = period_trigger(body.every)
    else:
        trigger = read_trigger(body.trigger, "trigger")
    made = await call.use.monitors.create(
        call.actor,
        body.name,
        trigger,
        grace=GRACE if body.grace is None else body.grace,
        description=body.description,
        tags=body.tags,
    )
    return _document(made.monitor) | {"ping_url": _url(call, made.token)}


@GROUP.post(
    "/ping-key",
    Permission.EDIT,
    records.PingKey,
    audit="monitor.rotate_ping_key",
    one_time=True,
)
async def rotate_ping_key(call: Call) -> Document:
    """Create or replace the project's ping key; ping URLs with it name the monitor."""
    key = await call.use.monitors.rotate_ping_key(call.actor)
    return {"ping_key": key, "ping_url": f"{_url(call, key)}/NAME"}


@GROUP.get("/monitors/{key}", Permission.READ, records.Monitor)
async def get_monitor(call: Call, key: str) -> Document:
    """Read one monitor, by its name or id."""
    return _document(await call.use.monitors.get(call.actor, key))


@GROUP.post(
    "/monitors/{key}/rotate",
    Permission.EDIT,
    records.NewMonitor,
    audit="monitor.rotate",
    one_time=True,
)
async def rotate_monitor(call: Call, key: str) -> Document:
    """Replace the ping URL of a monitor; the old one is refused at once."""
    made = await call.use.monitors.rotate(call.actor, key)
    return _document(made.monitor) | {"ping_url": _url(call, made.token)}


def _url(call: Call, token: str) -> str:
    return f"{call.origin()}/ping/{token}"


def _document(monitor: Monitor) -> Document:
    job, last = monitor.entry.job, monitor.last
    return {
        "id": job.id,
        "name": job.name,
        "status": monitor.state.value,
        "schedule": job.trigger.explain(),
        "trigger": trigger_to_document(job.trigger),
        "grace": format_duration(GRACE if job.expires is None else job.expires),
        "next_due": None if monitor.next_due is None else instant_text(monitor.next_due),
        "last_check_in": None if last is None else instant_text(last.ended_at or 0),
        "last_text": monitor.why_down,
        "last_log": monitor.log,
        "description": job.description,
        "tags": [*job.tags],
    }
