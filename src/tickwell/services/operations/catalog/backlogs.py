"""Operations about missed fires that are held, as too many to catch up at once."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.services.access.actor import Permission
from tickwell.services.documents import instant_text
from tickwell.services.jobs.backlogs import Decided, HeldJob
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.records import backlogs as records

GROUP = Group("backlog")
_EXAMPLE = {"answer": "all", "rate": 5}
#: Jobs that one answer names.
_MOST = 1_000


@GROUP.get("/backlog", Permission.READ, records.Backlog)
async def get_backlog(call: Call) -> Document:
    """List the jobs of the project that hold missed fires."""
    return _backlog(await call.use.backlogs.list(call.actor))


@GROUP.post(
    "/backlog/answer",
    Permission.OPERATE,
    records.BacklogAnswered,
    audit="backlog.answer",
    example=_EXAMPLE,
    positional=("answer",),
)
async def answer_backlog(call: Call, body: records.BacklogAnswerBody) -> Document:
    """Decide about the held fires of the project, or of one job: skip, latest or all."""
    return _decided(
        await call.use.backlogs.answer(call.actor, body.answer, rate=body.rate, key=body.job)
    )


@GROUP.get("/platform/backlog", Permission.PLATFORM, records.Backlog)
async def get_platform_backlog(call: Call) -> Document:
    """List the jobs of all projects that hold missed fires."""
    return _backlog(await call.use.backlogs.list_all(call.actor))


@GROUP.post(
    "/platform/backlog/answer",
    Permission.PLATFORM,
    records.BacklogAnswered,
    audit="platform.backlog_answer",
    example=_EXAMPLE,
    positional=("answer",),
)
async def answer_platform_backlog(call: Call, body: records.PlatformBacklogAnswerBody) -> Document:
    """Decide about the held fires of all projects: skip, latest or all."""
    return _decided(await call.use.backlogs.answer_all(call.actor, body.answer, rate=body.rate))


def _backlog(held: Sequence[HeldJob]) -> Document:
    return {
        "jobs": len(held),
        "runs": sum(each.backlog.count for each in held),
        "items": [
            {
                "job_id": each.job.id,
                "job": each.job.name,
                "project": each.job.project,
                "runs": each.backlog.count,
                "first": instant_text(each.backlog.ranges[0].first),
                "last": instant_text(each.backlog.ranges[-1].last),
                "since": instant_text(each.backlog.since),
                "until": instant_text(each.backlog.until),
                "paused": each.paused,
            }
            for each in held[:_MOST]
        ],
    }


def _decided(done: Decided) -> Document:
    return {
        "jobs": done.jobs,
        "runs": done.runs,
        "skipped": done.skipped,
        "paused": done.paused[:_MOST],
    }
