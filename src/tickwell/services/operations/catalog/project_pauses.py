"""Operations that pause a whole project, or everything."""

from __future__ import annotations

from tickwell.services.access.actor import Permission
from tickwell.services.documents import pauses_document
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.project_pauses import PausesChanged
from tickwell.services.operations.records import job as records
from tickwell.services.operations.records import pauses as answers

GROUP = Group("pauses")
_EXAMPLE = {"note": "the database is being moved"}


@GROUP.get("/pauses", Permission.READ, answers.Pauses)
async def get_pauses(call: Call) -> Document:
    """Read the pauses of the project and of all projects."""
    return pauses_document(await call.use.pauses.get(call.actor))


@GROUP.post(
    "/project/pause",
    Permission.OPERATE,
    answers.PausesChanged,
    audit="project.pause",
    example=_EXAMPLE,
    body_required=False,
)
async def pause_project(call: Call, body: records.PauseBody) -> Document:
    """Stop all jobs of the project from firing, until resumed or until an instant."""
    return _changed(await call.use.pauses.pause(call.actor, why=body.note, until=body.until))


@GROUP.post("/project/resume", Permission.OPERATE, answers.PausesChanged, audit="project.resume")
async def resume_project(call: Call) -> Document:
    """Let the jobs of the project fire again, except those that are paused themselves."""
    return _changed(await call.use.pauses.resume(call.actor))


@GROUP.post(
    "/platform/pause",
    Permission.PLATFORM,
    answers.PausesChanged,
    audit="platform.pause",
    example=_EXAMPLE,
    body_required=False,
)
async def pause_platform(call: Call, body: records.PauseBody) -> Document:
    """Stop the jobs of all projects from firing, until resumed or until an instant."""
    return _changed(await call.use.pauses.pause_all(call.actor, why=body.note, until=body.until))


@GROUP.post("/platform/resume", Permission.PLATFORM, answers.PausesChanged, audit="platform.resume")
async def resume_platform(call: Call) -> Document:
    """Let all jobs fire again, except projects and jobs that are paused themselves."""
    return _changed(await call.use.pauses.resume_all(call.actor))


def _changed(done: PausesChanged) -> Document:
    return pauses_document(done.pauses) | {
        "withdrawn": done.aligned.withdrawn,
        "cancelling": done.aligned.cancelling,
    }
