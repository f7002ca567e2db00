"""Records as JSON documents: the one form that API, command line and dashboard share.

Instants are RFC 3339 in UTC with milliseconds; a definition is the job document of the domain.
Every field is always there, null where there is nothing to say, except those of a definition that
have their default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from tickwell.clock import to_datetime
from tickwell.domain.ability import HTTP
from tickwell.domain.alert import Channel, Rule
from tickwell.domain.change import Changed
from tickwell.domain.document import document_of, job_to_document
from tickwell.domain.document.job import UNWRITTEN
from tickwell.domain.execution import Attempt, Execution, State
from tickwell.domain.explanation import reason_of
from tickwell.domain.health import Finding
from tickwell.domain.job import Entry, Job, Pause
from tickwell.domain.note import Output, Progress
from tickwell.domain.project_pause import scope_of
from tickwell.domain.step import CHECKPOINT, WAIT, Step, Wait, is_step, wait_of
from tickwell.domain.trigger import trigger_to_document
from tickwell.domain.trigger.duration import format_duration
from tickwell.domain.trigger.moment import to_text
from tickwell.domain.worker import Liveness
from tickwell.services.alerts.book import Silence
from tickwell.services.cooperative import cooperatively
from tickwell.services.executions.dead_letters import Group, Groups
from tickwell.services.executions.executions import Backfill, Tail
from tickwell.services.insights.metrics import Metrics, Percentiles
from tickwell.services.jobs.fire_times import is_edited, next_fire
from tickwell.services.redaction.masking import masked_definition
from tickwell.services.slots.slots import Completeness, Slot, SlotPage

if TYPE_CHECKING:  # a command that asks a server needs none of the operations
    from tickwell.services.operations.alerts import ActiveAlert
    from tickwell.services.operations.queues import Queue
    from tickwell.services.projects.maintenance import Maintenance
    from tickwell.services.projects.pauses import Pauses

T = TypeVar("T")
Document = dict[str, Any]

#: What `entry_document` adds to a definition.
_MOVING = ("state", "next_fire_time", "pause", "cursor", "edited", "warnings")
#: Fields of a job document that the service fills in and a client cannot set.
READ_ONLY = UNWRITTEN | {"next_fire_time", "cursor", "edited", "warnings"}


# One moment stands in many documents: jobs that were saved together, and what they fire next.
@lru_cache(maxsize=4096)
def instant_text(instant: int) -> str:
    """As documents have it: 2026-11-15T09:00:00.000Z."""
    return to_text(to_datetime(instant))


def _maybe(instant: int | None) -> str | None:
    return None if instant is None else instant_text(instant)


def entry_document(entry: Entry, warnings: Sequence[str] | None = None) -> Document:
    """A job with its cursor; with warnings when it was saved or read alone, as lists have none.

    What a definition needs to be read is always there.
    """
    job, cursor = entry.job, entry.cursor
    # Whether an edit or the code is in force is worth its time only where code declares the job.
    edited = {} if job.declared is None else {"edited": is_edited(job)}
    return {
        "id": job.id,
        "name": job.name,
        "project": job.project,
        "queue": job.queue,
        **masked_definition(document_of(entry)),
        **edited,
        **stamps(job),
        "state": cursor.state.value,
        "next_fire_time": _maybe(next_fire(entry)),
        "pause": _maybe_pause(cursor.pause),
        "cursor": {
            "after": instant_text(cursor.after),
            "runs": cursor.runs,
            "failures": cursor.failures,
        },
        **({} if warnings is None else {"warnings": [*warnings]}),
    }


def definition_document(job: Job) -> Document:
    """A definition that a job had or has, as `entry_document` shows it."""
    return {**masked_definition(job_to_document(job)), **stamps(job)}


def stamps(job: Job) -> Document:
    """Which definition of the job this is, and since when."""
    return {
        "version": job.version,
        "saved_at": instant_text(job.saved_at),
        "created_at": instant_text(job.created_at),
    }


def definition_of(document: Mapping[str, Any]) -> Document:
    """The definition in what `entry_document` wrote, so that what was read can be sent back."""
    return {name: value for name, value in document.items() if name not in _MOVING}


def pauses_document(pauses: Pauses) -> Document:
    """The pauses that a project is under."""
    return {"project": _maybe_pause(pauses.project), "platform": _maybe_pause(pauses.platform)}


def _maybe_pause(pause: Pause | None) -> Document | None:
    return None if pause is None else _pause(pause)


def _pause(pause: Pause) -> Document:
    return {
        "by": pause.by,
        "why": pause.why,
        "since": instant_text(pause.since),
        "until": _maybe(pause.until),
        "scope": pause.scope.value,
    }


def maintenance_document(found: Maintenance) -> Document:
    """A maintenance window, with the time that is on or next."""
    window, span = found.window, found.span
    length = format_duration(window.duration)
    return {
        "name": window.name,
        "scope": scope_of(window.project).value,
        "status": found.state.value,
        "start": None if span is None else instant_text(span.start),
        "end": None if span is None else instant_text(span.end),
        "schedule": f"{window.trigger.explain()}, for {length}",
        "trigger": trigger_to_document(window.trigger),
        "length": length,
        "tags": [*window.tags],
        "queues": [*window.queues],
        "note": window.why,
        "by": window.by,
        "changed_at": instant_text(window.changed_at),
    }


def changed_document(
    changed: Changed, document: Callable[[Entry], Document] = entry_document
) -> Document:
    """A job after a change, and what the change took back."""
    return {
        "job": document(changed.entry),
        "withdrawn": changed.withdrawn,
        "cancelling": changed.cancelling,
    }


def whole_document(execution: Execution, job: Job | None) -> Document:
    """An execution that was read alone: with its attempts, and with the payload that is sent."""
    document = execution_document(execution, job.name if job else None, attempts=True)
    if execution.payload is None and job is not None:
        document["payload"] = job.payload
    soft, hard = deadlines(execution, job)
    return document | {"soft_deadline": _maybe(soft), "hard_deadline": _maybe(hard)}


def deadlines(execution: Execution, job: Job | None) -> tuple[int | None, int | None]:
    """When the attempt under way is asked to stop, and when it ends regardless."""
    if execution.state is not State.RUNNING or execution.started_at is None or job is None:
        return None, None
    began = execution.started_at
    return began + job.timeout.soft, began + job.timeout.hard


def execution_document(
    execution: Execution, job_name: str | None = None, *, attempts: bool = False
) -> Document:
    """An execution; with its attempts when it was read alone, because lists do not have them."""
    each = execution
    document: Document = {
        "id": each.id,
        "project": each.project,
        "job_id": each.job_id,
        "job_name": job_name,
        "job_version": each.job_version,
        "kind": each.kind.value,
        "state": each.state.value,
        "reason": each.reason or reason_of(each.state, None, each.error),
        "fire_time": instant_text(each.fire_time),
        "run_at": instant_text(each.run_at),
        "created_at": instant_text(each.created_at),
        "started_at": _maybe(each.started_at),
        "ended_at": _maybe(each.ended_at),
        "queue": each.queue,
        "ability": each.ability,
        "payload": each.payload,
        "key": each.key,
        "attempt": each.attempt,
        "charged": each.charged,
        "lost": each.lost,
        "returned": each.returned,
        "worker": each.worker,
        "deadline": _maybe(each.deadline),
        "cancel_requested": each.cancel_requested,
        "error": each.error,
        "result": each.result,
        "revived_from": each.revived_from,
    }
    if attempts:
        sent = each.ability == HTTP
        document["attempts"] = [attempt_document(one, sent=sent) for one in each.attempts]
    return document


def unread(document: Document) -> Document:
    """What an actor learns of an execution that it may request or change, and not read."""
    return document | {"payload": None, "result": None, "error": None, "reason": None}


def attempt_document(attempt: Attempt, *, sent: bool = False) -> Document:
    """One try at an execution, ended; if something was sent, with the response to it."""
    return {
        "number": attempt.number,
        "outcome": attempt.outcome.value,
        "worker": attempt.worker,
        "started_at": _maybe(attempt.started_at),
        "ended_at": instant_text(attempt.ended_at),
        "error": attempt.error,
        "response": attempt.result if sent and isinstance(attempt.result, dict) else None,
    }


def notes_document(
    progress: Progress | None, outputs: Sequence[Output], steps: Sequence[Step]
) -> Document:
    """What attempts of an execution told: how far one is, their lines, what they have done."""
    far = progress and {
        "attempt": progress.attempt,
        "fraction": progress.fraction,
        "message": progress.message,
        "at": instant_text(progress.at),
    }
    return {
        "progress": far,
        "logs": [*map(_log, outputs)],
        "steps": [_step(one) for one in steps if is_step(one)],
        "checkpoint": next((_step(one) for one in steps if one.name == CHECKPOINT), None),
        "waits": [_wait(wait_of(one)) for one in steps if one.name.startswith(WAIT)],
    }


def _wait(wait: Wait) -> Document:
    state = "open" if wait.is_open else "expired" if wait.is_expired else "answered"
    return {
        "name": wait.name,
        "state": state,
        "expires_at": instant_text(wait.expires_at),
        "ended_at": _maybe(wait.ended_at),
        "answer": wait.answer,
        "by": wait.by or None,
    }


def _step(step: Step) -> Document:
    return {
        "name": step.name,
        "attempt": step.attempt,
        "at": instant_text(step.at),
        "value": step.value,
    }


def tail_document(tail: Tail) -> Document:
    """Lines of an execution from one on, and the attempt and the line to read on from."""
    items = [*map(_log, tail.outputs)]
    return {"items": items, "attempt": tail.attempt, "line": tail.line, "ended": tail.ended}


def _log(output: Output) -> Document:
    return {"attempt": output.attempt, "first": output.first, "lines": [*output.lines]}


def slot_document(slot: Slot) -> Document:
    """A nominal fire time with its answer."""
    return {
        "fire_time": instant_text(slot.fire_time),
        "answer": slot.answer.value,
        "reason": slot.reason,
        "execution_id": slot.execution_id,
        "state": None if slot.state is None else slot.state.value,
        "by": slot.by,
        "why": slot.why,
    }


async def slots_document(page: SlotPage) -> Document:
    """Slots of a range; `next` is where to read on, or null at the end."""
    items = [slot_document(slot) async for slot in cooperatively(page.items)]
    return {"items": items, "next": _maybe(page.next)}


def completeness_document(counted: Completeness) -> Document:
    """The slots of a range, counted."""
    return {
        "due": counted.due,
        "executed": counted.executed,
        "skipped_by_reason": counted.skipped_by_reason,
        "pruned": counted.pruned,
        "unanswered": counted.unanswered,
        "next": _maybe(counted.next),
    }


def backfill_document(done: Backfill) -> Document:
    """What a backfill did; `next` is where to go on, or null at the end."""
    return {
        "ids": done.ids,
        "count": done.count,
        "left_alone": done.left_alone,
        "next": _maybe(done.next),
    }


def worker_document(liveness: Liveness, now: int) -> Document:
    """A process and its last beat."""
    worker = liveness.worker
    return {
        "id": worker.id,
        "host": worker.host or None,
        "pid": worker.pid or None,
        "state": liveness.state(now),
        "roles": list(worker.roles),
        "version": worker.version or None,
        "queues": list(worker.queues),
        "abilities": list(worker.abilities),
        "busy": worker.busy,
        "capacity": worker.capacity,
        "started_at": instant_text(worker.started_at),
        "beat": liveness.beat,
        "seen_at": instant_text(liveness.seen_at),
    }


def queue_document(queue: Queue) -> Document:
    """A queue as one project sees it."""
    return {
        "name": queue.name,
        "depth": {state.value: count for state, count in queue.depth.items()},
        "workers": queue.workers,
        "pause": queue_pause_document(queue.pause),
        "complete": queue.complete,
    }


def metrics_document(found: Metrics) -> Document:
    """Rates, errors and percentiles of the last minutes: seconds for rates, else milliseconds."""
    longest = max(found.rate)
    seconds = longest * 60
    return {
        "rate": {f"{each}min": round(value, 3) for each, value in found.rate.items()},
        "errors": {f"{each}min": round(value, 3) for each, value in found.errors.items()},
        "duration": _percentiles_document(found.duration),
        "lateness": _percentiles_document(found.lateness),
        "queue_depth": found.depth,
        "queues": [
            {
                "name": name or None,
                "rate": round(tally.executions / seconds, 3),
                "errors": round(tally.dead / seconds, 3),
                "duration": _percentiles_document(Percentiles.of(tally.took)),
                "lateness": _percentiles_document(Percentiles.of(tally.late)),
            }
            for name, tally in found.queues.items()
        ],
    }


def _percentiles_document(found: Percentiles) -> Document:
    """Whole milliseconds: the histogram that they come from is no finer."""
    values = {"p50": found.p50, "p95": found.p95, "p99": found.p99}
    return {name: None if value is None else round(value) for name, value in values.items()}


def queue_pause_document(pause: Mapping[str, Any] | None) -> Document | None:
    """Who paused a queue, why and when."""
    return None if pause is None else {**pause, "since": instant_text(pause["since"])}


def group_document(group: Group, job_name: str | None = None) -> Document:
    """Dead letters that died of the same, with the newest as an example."""
    return {
        "signature": group.signature,
        "count": group.count,
        "jobs": group.jobs,
        "newest": execution_document(group.newest, job_name),
    }


def groups_document(groups: Groups, names: Mapping[str, str]) -> Document:
    """Dead letters by what went wrong, with the names of jobs by their ids."""
    items = [group_document(each, names.get(each.newest.job_id)) for each in groups.items]
    return {"items": items, "looked_at": groups.looked_at, "more": groups.more}


def finding_document(finding: Finding) -> Document:
    """One thing that health checked."""
    return {
        "check": finding.check,
        "level": finding.level.value,
        "text": finding.text,
        "remedy": finding.remedy,
    }


def alert_document(active: ActiveAlert) -> Document:
    """Something that is not well."""
    rule, alert = active.rule, active.alert
    return {
        "rule": rule.id,
        "condition": rule.condition.value,
        "words": rule.words,
        "severity": rule.severity,
        "status": active.status.value,
        "job_id": active.job,
        "name": alert.name,
        "text": alert.text,
        "since": instant_text(alert.since),
    }


def alert_rule_document(rule: Rule) -> Document:
    """What is watched for, and where."""
    return {
        "id": rule.id,
        "condition": rule.condition.value,
        "words": rule.words,
        "severity": rule.severity,
        "built_in": rule.is_built_in,
        "job_id": rule.job,
        "after": None if rule.after is None else format_duration(rule.after),
        "times": rule.times,
        "by": rule.by,
        "tz": rule.tz,
        "repeat": format_duration(rule.repeat),
        "created_at": None if rule.is_built_in else instant_text(rule.created_at),
        "created_by": rule.created_by or None,
    }


def channel_document(channel: Channel) -> Document:
    """Where alerts are sent, without its secret."""
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind.value,
        "to": channel.to,
        "severity": channel.severity,
        "job_id": channel.job,
        "tags": [*channel.tags],
        "queues": [*channel.queues],
        "created_at": instant_text(channel.created_at),
        "created_by": channel.created_by,
    }


def notice_document(notice: Mapping[str, Any]) -> Document:
    """What was reported, from its record."""
    return {
        "rule": notice["rule"],
        "words": notice["words"],
        "type": notice["type"],
        "at": instant_text(notice["at"]),
        "repeated": notice["is_repeated"],
        "alerts": [each | {"since": instant_text(each["since"])} for each in notice["alerts"]],
        "more": notice["more"],
    }


def silence_document(silence: Silence) -> Document:
    """What is not reported, until when, and why."""
    return {
        "id": silence.id,
        "rule": silence.rule,
        "job_id": silence.job,
        "until": instant_text(silence.until),
        "why": silence.why,
        "by": silence.by,
    }
