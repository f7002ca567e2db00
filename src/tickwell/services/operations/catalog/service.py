"""Operations on queues and workers, bulk operations, previews and checkups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tickwell.domain.trigger import Cron, Trigger
from tickwell.domain.trigger.document_reading import read_trigger
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.documents import (
    finding_document,
    instant_text,
    metrics_document,
    queue_document,
    worker_document,
)
from tickwell.services.operations.bulk import Bulk
from tickwell.services.operations.catalog.jobs import job_filter
from tickwell.services.operations.declaration import Call, Document, Group
from tickwell.services.operations.records import service as records

QUEUES = Group("queues")
WORKERS = Group("workers")
OBSERVABILITY = Group("observability")
HEALTH = Group("health")
BULK = Group("bulk")
PREVIEWS = Group("previews")
#: Job names that the answer to a bulk operation has at most.
_NAMES = 100


@QUEUES.get("/queues", Permission.READ, records.Queues)
async def list_queues(call: Call) -> Document:
    """List queues with the project's live executions by state, their workers and pauses."""
    return await _queues(call, call.actor)


@QUEUES.post(
    "/queues/{name}/pause",
    Permission.PLATFORM,
    records.Queues,
    audit="queue.pause",
    example={"note": "moving"},
    body_required=False,
)
async def pause_queue(call: Call, name: str, body: records.Note) -> Document:
    """Stop workers from claiming from a queue, for all projects; running attempts continue."""
    await call.use.queues.pause(call.actor, name, why=body.note)
    return await _queues(call, _reader(call.actor))


@QUEUES.post("/queues/{name}/resume", Permission.PLATFORM, records.Queues, audit="queue.resume")
async def resume_queue(call: Call, name: str) -> Document:
    """Let workers claim from a queue again."""
    await call.use.queues.resume(call.actor, name)
    return await _queues(call, _reader(call.actor))


@WORKERS.get("/workers", Permission.READ, records.Workers)
async def list_workers(call: Call) -> Document:
    """List every process that the store remembers, with its last heartbeat."""
    found, now = await call.use.workers.list(call.actor), call.services.clock.now()
    return {"items": [worker_document(each, now) for each in found], "next_cursor": None}


@WORKERS.get("/workers/{id}", Permission.READ, records.Worker)
async def get_worker(call: Call, id: str) -> Document:
    """Read one process, with its last heartbeat."""
    found = await call.use.workers.get(call.actor, id)
    return worker_document(found, call.services.clock.now())


@OBSERVABILITY.get("/observability/metrics", Permission.READ, records.Metrics)
async def get_metrics(call: Call, query: records.MetricsQuery) -> Document:
    """Read rates and errors over 1, 5 and 15 minutes, and percentiles of the last 15 minutes."""
    found = await call.use.insights.metrics(
        call.actor, queue=query.queue, job=query.job, all_projects=query.all_projects
    )
    return metrics_document(found)


@HEALTH.get("/checkup", Permission.READ, records.Findings)
async def checkup(call: Call) -> Document:
    """List what keeps the project's jobs from running, one sentence each, with a remedy."""
    found = await call.use.checkups.findings(call.actor)
    return {"items": [finding_document(each) for each in found]}


_SELECTION = {"filter": {"tag": "reports"}, "dry_run": True}


@BULK.post(
    "/bulk/pause", Permission.OPERATE, records.BulkDone, audit="bulk.pause", example=_SELECTION
)
async def bulk_pause(call: Call, body: records.BulkPause) -> Document:
    """Pause all active jobs that match; `dry_run` only lists them."""
    where = job_filter(body.filter, body.filter.states)
    done = await call.use.bulk.pause(
        call.actor, where, dry_run=body.dry_run, why=body.note, until=body.until
    )
    return _bulk(call, done)


@BULK.post(
    "/bulk/resume", Permission.OPERATE, records.BulkDone, audit="bulk.resume", example=_SELECTION
)
async def bulk_resume(call: Call, body: records.BulkBody) -> Document:
    """Resume all paused jobs that match; `dry_run` only lists them."""
    where = job_filter(body.filter, body.filter.states)
    return _bulk(call, await call.use.bulk.resume(call.actor, where, dry_run=body.dry_run))


@BULK.post(
    "/bulk/trigger", Permission.OPERATE, records.BulkDone, audit="bulk.trigger", example=_SELECTION
)
async def bulk_trigger(call: Call, body: records.BulkTrigger) -> Document:
    """Run all jobs that match once, now; `dry_run` only lists them."""
    where = job_filter(body.filter, body.filter.states)
    done = await call.use.bulk.trigger(
        call.actor, where, dry_run=body.dry_run, payload=body.payload, key=call.idempotency_key
    )
    return _bulk(call, done)


@BULK.post(
    "/bulk/delete", Permission.EDIT, records.BulkDone, audit="bulk.delete", example=_SELECTION
)
async def bulk_delete(call: Call, body: records.BulkBody) -> Document:
    """Delete all jobs that match; `dry_run` only lists them."""
    where = job_filter(body.filter, body.filter.states)
    return _bulk(call, await call.use.bulk.delete(call.actor, where, dry_run=body.dry_run))


@PREVIEWS.get("/cron/preview", Permission.READ, records.Preview)
async def preview_cron(call: Call, query: records.CronQuery) -> Document:
    """Explain a cron expression, with its next fire times and what may surprise."""
    trigger = Cron(query.expr, tz=query.tz, dialect=query.dialect)
    return await _preview(call, trigger, query.count)


@PREVIEWS.post(
    "/triggers/preview",
    Permission.READ,
    records.Preview,
    example={"trigger": {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"}, "count": 3},
    reads=True,
)
async def preview_trigger(call: Call, body: records.PreviewBody) -> Document:
    """Explain any trigger, with its next fire times and what may surprise."""
    return await _preview(call, read_trigger(body.trigger, "trigger"), body.count)


async def _queues(call: Call, actor: Actor) -> Document:
    return {"items": [queue_document(each) for each in await call.use.queues.list(actor)]}


def _reader(actor: Actor) -> Actor:
    """An actor that may pause queues for all projects also sees them, as a member or not."""
    return replace(actor, permissions=actor.permissions | {Permission.READ})


def _bulk(call: Call, done: Bulk) -> Document:
    """How many, and for an actor that may read jobs, which."""
    shown = _NAMES if Permission.READ in call.actor.permissions else 0
    return {
        "dry_run": done.dry_run,
        "matched": len(done.matched),
        "changed": done.changed,
        "names": _first(done.matched, shown),
        "refused": dict(list(done.refused.items())[:shown]),
        "more": done.more,
    }


def _first(names: Sequence[str], shown: int) -> list[str]:
    return list(names[:shown])


async def _preview(call: Call, trigger: Trigger, count: int) -> Document:
    found = await call.use.previews.trigger(call.actor, trigger, count)
    return {
        "words": found.words,
        "fires": [instant_text(fire) for fire in found.fires],
        "warnings": list(found.warnings),
    }
