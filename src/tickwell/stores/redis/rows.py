"""Records as arguments and replies of scripts: JSON, with false for an absent value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

from tickwell.domain.document import job_to_document
from tickwell.domain.execution import Claim, NewExecution, RangeSkip, State
from tickwell.domain.job import Cursor, Entry, Job
from tickwell.domain.outcome import Report
from tickwell.domain.unique import Unique
from tickwell.ports.records import Ended
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.rows.codec import (
    KIND_CODE,
    KINDS,
    OUTCOME_CODE,
    OVERLAP_CODE,
    REASON_CODE,
    REASONS,
    STATE_CODE,
    STATES,
    clean,
    cursor_from_row,
    cursor_to_row,
    to_json,
)


def dumps(value: Any) -> str:
    """Compact JSON for a script."""
    return json.dumps(value, separators=(",", ":"))


def present(values: Iterable[Any]) -> list[Any]:
    """The values with false for `None`, which Lua cannot tell from the end of a list."""
    return [False if value is None else value for value in values]


def shortened(values: Sequence[Any]) -> list[Any]:
    """The values as `present` has them, without absent ones at the end."""
    count = len(values)
    while count and (values[count - 1] is None or values[count - 1] is False):
        count -= 1
    return present(values[:count])


def cursor_argument(cursor: Cursor) -> list[Any]:
    """A cursor for a script."""
    return present(cursor_to_row(cursor))


def cursor_of(row: Sequence[Any]) -> Cursor:
    """The cursor in an entry's row, which is: moves, the cursor, the version."""
    return cursor_from_row(tuple(row[1:9]))


def entry_of(cache: JobCache, row: Sequence[Any]) -> Entry:
    """The entry of a row: id, cursor row, document."""
    id, cursor, document = row
    return Entry(cache.parse(id, cursor[9], document), cursor_of(cursor))


def facts(job: Job) -> list[Any]:
    """The fields of a definition that scripts use."""
    trigger, retention = job.trigger, job.retention
    return present(
        (
            job.version,
            job.project,
            job.name,
            job.priority,
            job.queue,
            job.ability,
            job.timeout.hard,
            trigger.max_runs,
            trigger.follows_finish,
            job.auto_remove,
            retention.age,
            retention.count,
            retention.dead,
            job.saved_at,
        )
    )


def document(job: Job) -> str:
    """A definition as it is stored."""
    return dumps(job_to_document(job))


def execution_argument(new: NewExecution) -> list[Any]:
    """A new execution, for a script."""
    job = new.job
    return shortened(
        (
            new.id,
            job.id,
            job.version,
            job.queue,
            job.ability,
            KIND_CODE[new.kind],
            new.fire_time,
            new.run_at,
            new.rank,
            OVERLAP_CODE[new.overlap],
            to_json(new.payload),
            None if job.expires is None else new.run_at + job.expires,
            new.gate,
            new.limit or None,
            clean(new.key),
            new.backfill,
            new.revived_from,
            None if new.unique is None else _unique_argument(new.unique),
        )
    )


def _unique_argument(unique: Unique) -> list[Any]:
    names = unique.name, unique.pending, unique.running, unique.within, unique.debounced
    return present((*names, unique.most))


def claim_of(row: Sequence[Any], job: Job) -> Claim:
    """The claim of a running execution, with the current definition of its job."""
    id, _, kind, attempt, charged, lost, returned, fire_time, run_at, payload, *rest = row
    if payload is None:
        # A copy for each caller: a handler may change its payload.
        payload = deepcopy(job.payload) if isinstance(job.payload, dict | list) else job.payload
    return Claim(
        id=id,
        job=job,
        kind=KINDS[kind],
        attempt=attempt,
        charged=charged,
        lost=lost,
        returned=returned,
        fire_time=fire_time,
        run_at=run_at,
        payload=payload,
        deadline=rest[0],
        worker=rest[1],
        claim_id=rest[2],
        size=rest[4],
        started_at=rest[5],
    )


def skip_argument(skip: RangeSkip) -> list[int]:
    """A range skip for a script."""
    return [skip.first, skip.last, skip.count, REASON_CODE[skip.reason]]


def skip_of(job_id: str, row: Sequence[int]) -> RangeSkip:
    """The range skip of a member: first, last, count, reason, number."""
    first, last, count, reason = row[:4]
    return RangeSkip(job_id=job_id, first=first, last=last, count=count, reason=REASONS[reason])


def ended_of(pairs: Sequence[Any]) -> Ended:
    """What a script says has ended."""
    counts = {(STATES[state], project, queue): count for (state, project, queue), count in pairs}
    return Ended(counts)


def report_argument(report: Report, stamp: list[Any] | None = None) -> list[Any]:
    """A report for a script, with the stamp that `finish` asked for, if any."""
    claim, retries = report.claim, report.state is State.WAITING
    return shortened(
        (
            claim.id,
            claim.job.id,
            claim.attempt,
            OUTCOME_CODE[report.outcome],
            STATE_CODE[report.state],
            report.charged,
            report.lost,
            report.returned,
            claim.charged,
            report.ended_at,
            report.started_at,
            to_json(report.result),
            clean(report.error),
            clean(report.reason),
            report.run_at if retries else None,
            report.rank if retries else None,
            claim.job.pause_after is not None,
            stamp,
            list(report.awaits) or None,
        )
    )
