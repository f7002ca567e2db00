"""Operations on executions and dead letters."""

from __future__ import annotations

from tickwell.domain.execution import Execution
from tickwell.domain.payload import KEEP
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.documents import (
    execution_document,
    groups_document,
    instant_text,
    notes_document,
    tail_document,
    unread,
    whole_document,
)
from tickwell.services.executions.answers import read_token
from tickwell.services.executions.dead_letters import DeadFilter
from tickwell.services.operations.catalog.jobs import execution_filter
from tickwell.services.operations.dead_letters import Revival
from tickwell.services.operations.declaration import Answer, Call, Document, Group
from tickwell.services.operations.records import execution as records
from tickwell.services.operations.records import service as service_records

GROUP = Group("executions")
DEAD_LETTERS = Group("dead letters")
#: Who answers without an account, in the audit log and on the execution.
_BY_LINK = "signed link"


@GROUP.get("/executions", Permission.READ, records.ExecutionPage)
async def list_executions(call: Call, query: service_records.ExecutionQuery) -> Document:
    """List executions, newest first."""
    executions = call.use.executions
    job_id = None
    if query.job is not None:
        job_id = (await executions.job_of(call.actor, query.job)).job.id
    where = execution_filter(query, job_id, query.queue)
    scope = ("executions", call.actor.project, where)
    after = call.open_cursor(query.cursor, *scope)
    page = await executions.list(call.actor, where, after, query.limit)
    names = await executions.names(call.actor, page.items)
    items = [execution_document(each, names.get(each.job_id)) for each in page.items]
    return {"items": items, "next_cursor": call.seal_cursor(page.cursor, *scope)}


@GROUP.get("/executions/{id}", Permission.READ, records.Execution)
async def get_execution(call: Call, id: str) -> Document:
    """Read one execution with its attempts, steps, progress and log lines."""
    return await _whole(call, await call.use.executions.get(call.actor, id))


@GROUP.get("/executions/{id}/output", Permission.READ, records.OutputPage)
async def get_output(call: Call, id: str, query: service_records.OutputQuery) -> Document:
    """Read the log lines of an execution's attempts from a given line, also while they run."""
    return tail_document(await call.use.executions.tail(call.actor, id, query.attempt, query.line))


@GROUP.post(
    "/executions/{id}/cancel", Permission.OPERATE, records.Execution, audit="execution.cancel"
)
async def cancel_execution(call: Call, id: str) -> Document:
    """Cancel a pending execution, or ask the worker of a running one to stop it."""
    return await _whole(call, await call.use.executions.cancel(call.actor, id))


@GROUP.post(
    "/executions/{id}/answer",
    Permission.OPERATE,
    records.Execution,
    audit="execution.answer",
    example={"name": "approval", "answer": True},
    positional=("name", "answer"),
)
async def answer_execution(call: Call, id: str, body: records.AnswerBody) -> Document:
    """Answer a question that an execution waits for, once; the execution continues at once."""
    return await _whole(
        call, await call.use.executions.answer(call.actor, id, body.name, body.answer)
    )


@GROUP.post(
    "/answers/{token}",
    None,
    records.Answered,
    audit="execution.answer",
    example={"answer": True},
)
async def answer_by_link(call: Call, token: str, body: records.SignedAnswer) -> Document:
    """Answer what an execution waits for, at the address from `run.answer_url`; once."""
    project, id, name = read_token(call.services.cursors, token)
    actor = Actor(name=_BY_LINK, project=project, permissions=frozenset({Permission.OPERATE}))
    await call.use.executions.answer(actor, id, name, body.answer)
    return {"execution": id, "name": name}


@GROUP.post(
    "/executions/{id}/revive",
    Permission.OPERATE,
    records.Execution,
    audit="execution.revive",
    example={},
    body_required=False,
    positional=("payload",),
)
async def revive_execution(call: Call, id: str, body: records.ReviveBody) -> Document:
    """Run a dead execution again under its id; with another payload, as a new execution."""
    executions = call.use.executions
    if body.payload is KEEP:
        return await _whole(call, await executions.revive(call.actor, id))
    return await _whole(call, await executions.revive_edited(call.actor, id, body.payload))


@DEAD_LETTERS.get("/dead-letters/groups", Permission.READ, service_records.DeadGroups)
async def dead_letter_groups(call: Call, query: service_records.DeadFilter) -> Document:
    """Group dead letters by error, the largest group first; `signature` is a filter for reviving.

    The newest 1,000 dead letters are grouped; `more` says that older ones are not counted.
    """
    found = await call.use.dead_letters.groups(call.actor, _dead_filter(query))
    newest = [group.newest for group in found.items]
    return groups_document(found, await call.use.executions.names(call.actor, newest))


@DEAD_LETTERS.post(
    "/dead-letters/revive",
    Permission.OPERATE,
    service_records.Revival,
    status=202,
    audit="dead_letters.revive",
    example={"filter": {"job": "daily-report"}, "rate": 10},
    body_required=False,
)
async def revive_dead_letters(call: Call, body: service_records.ReviveMany) -> Answer:
    """Start reviving all that match, at a limited rate; `Location` is the record of its progress.

    With a payload each is repeated as a new execution, and the dead one remains; jobs that cannot
    take the payload are left out, and `refused` says why, by job name.
    """
    where = _dead_filter(body.filter)
    revival = await call.use.dead_letters.revive(
        call.actor, where, rate=body.rate, payload=body.payload
    )
    return Answer(_revival(revival), location=f"/dead-letters/revivals/{revival.id}")


@DEAD_LETTERS.post(
    "/dead-letters/purge",
    Permission.EDIT,
    service_records.Purged,
    audit="dead_letters.purge",
    example={"filter": {"signature": "HTTP 410 Gone"}},
)
async def purge_dead_letters(call: Call, body: service_records.PurgeMany) -> Document:
    """Delete dead letters that match permanently, 10,000 at a time; `more` says to call again."""
    purged, more = await call.use.dead_letters.purge(call.actor, _dead_filter(body.filter))
    return {"purged": purged, "more": more}


@DEAD_LETTERS.get("/dead-letters/revivals/{id}", Permission.READ, service_records.Revival)
async def get_revival(call: Call, id: str) -> Document:
    """Read the progress of a revival."""
    return _revival(await call.use.dead_letters.revival(call.actor, id))


def _dead_filter(query: service_records.DeadFilter) -> DeadFilter:
    return DeadFilter(
        job_id=query.job,
        queue=query.queue,
        since=query.since,
        until=query.until,
        signature=query.signature,
        search=query.search,
    )


async def _whole(call: Call, execution: Execution) -> Document:
    if Permission.READ not in call.actor.permissions:
        document = unread(whole_document(execution, None)) | {"attempts": []}
        return document | notes_document(None, (), ())
    executions = call.use.executions
    jobs = await executions.jobs(call.actor, [execution])
    document = whole_document(execution, jobs.get(execution.job_id))
    steps = await executions.steps(call.actor, execution.id)
    return document | notes_document(*await executions.notes(call.actor, execution.id), steps)


def _revival(revival: Revival) -> Document:
    ended = revival.ended_at
    return {
        "id": revival.id,
        "state": revival.state,
        "by": revival.by,
        "rate": revival.rate,
        "matched": revival.matched,
        "revived": revival.revived,
        "left_out": revival.left_out,
        "refused": revival.refused,
        "error": revival.error,
        "started_at": instant_text(revival.started_at),
        "updated_at": instant_text(revival.updated_at),
        "ended_at": None if ended is None else instant_text(ended),
    }
