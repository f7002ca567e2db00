"""Operations on maintenance windows."""

from __future__ import annotations

from tickwell.domain.trigger.document_reading import read_trigger
from tickwell.services.access.actor import Permission
from tickwell.services.documents import maintenance_document
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.records import admin
from tickwell.services.operations.records import maintenance as records
from tickwell.services.projects.maintenance import Schedule

GROUP = Group("maintenance")
_EXAMPLE = {"length": "2h", "note": "the database is being moved"}


@GROUP.get("/maintenance", Permission.READ, records.MaintenanceWindows)
async def list_maintenance(call: Call) -> Document:
    """List maintenance windows of the project and of all projects: first those that are on."""
    found = await call.use.maintenance.list(call.actor)
    return {"items": [maintenance_document(each) for each in found]}


@GROUP.put(
    "/maintenance/{name}",
    Permission.OPERATE,
    records.MaintenanceWindow,
    audit="maintenance.put",
    example=_EXAMPLE,
)
async def put_maintenance(call: Call, name: str, body: records.MaintenanceToPut) -> Document:
    """Add or replace a maintenance window; fire times inside are skipped as `maintenance`."""
    made = await call.use.maintenance.put(
        call.actor, name, _schedule(body), why=body.note, tags=body.tags, queues=body.queues
    )
    return maintenance_document(made)


@GROUP.post(
    "/maintenance/{name}/end",
    Permission.OPERATE,
    records.MaintenanceWindow,
    audit="maintenance.end",
)
async def end_maintenance(call: Call, name: str) -> Document:
    """End a maintenance window that is on; one that recurs begins again at its next time."""
    return maintenance_document(await call.use.maintenance.end(call.actor, name))


@GROUP.delete("/maintenance/{name}", Permission.OPERATE, admin.Done, audit="maintenance.delete")
async def delete_maintenance(call: Call, name: str) -> Document:
    """Delete a maintenance window; fire times that it skipped stay skipped."""
    await call.use.maintenance.delete(call.actor, name)
    return {"done": True}


@GROUP.put(
    "/platform/maintenance/{name}",
    Permission.PLATFORM,
    records.MaintenanceWindow,
    audit="platform_maintenance.put",
    example=_EXAMPLE,
)
async def put_platform_maintenance(
    call: Call, name: str, body: records.MaintenanceToPut
) -> Document:
    """Add or replace a maintenance window of all projects."""
    made = await call.use.maintenance.put_all(
        call.actor, name, _schedule(body), why=body.note, tags=body.tags, queues=body.queues
    )
    return maintenance_document(made)


@GROUP.post(
    "/platform/maintenance/{name}/end",
    Permission.PLATFORM,
    records.MaintenanceWindow,
    audit="platform_maintenance.end",
)
async def end_platform_maintenance(call: Call, name: str) -> Document:
    """End a maintenance window of all projects that is on."""
    return maintenance_document(await call.use.maintenance.end_all(call.actor, name))


@GROUP.delete(
    "/platform/maintenance/{name}",
    Permission.PLATFORM,
    admin.Done,
    audit="platform_maintenance.delete",
)
async def delete_platform_maintenance(call: Call, name: str) -> Document:
    """Delete a maintenance window of all projects."""
    await call.use.maintenance.delete_all(call.actor, name)
    return {"done": True}


def _schedule(body: records.MaintenanceToPut) -> Schedule:
    return Schedule(
        trigger=None if body.trigger is None else read_trigger(body.trigger, "trigger"),
        start=body.start,
        end=body.end,
        length=body.length,
    )
