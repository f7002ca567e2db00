"""Executions from rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from tickwell.domain.execution import Attempt, Execution, State, shown_attempts
from tickwell.domain.queue import LaneLength
from tickwell.domain.worker import Liveness, Owned, Refusal, Worker
from tickwell.stores.sql.rows.codec import KINDS, OUTCOMES, STATES, from_json


def worker_to_json(worker: Worker) -> str:
    """The worker as its row holds it."""
    return json.dumps(asdict(worker))


def liveness_of(row: Any) -> Liveness:
    """The worker of a row of `list_workers`, and how it is."""
    document, beat, seen_at, lost = row
    fields = json.loads(document)
    fields["queues"], fields["abilities"] = tuple(fields["queues"]), tuple(fields["abilities"])
    fields["roles"] = tuple(fields.get("roles", ("worker",)))
    fields["refusals"] = tuple(Refusal(**each) for each in fields.get("refusals", ()))
    return Liveness(worker=Worker(**fields), beat=beat, seen_at=seen_at, lost=bool(lost))


def owned_of(row: Any) -> Owned:
    """What a worker holds, from a row of `owned`."""
    id, attempt, claim_id, cancel, why = row
    return Owned(id=id, attempt=attempt, claim_id=claim_id, cancel=bool(cancel), why=why or None)


def execution_of(row: Any) -> Execution:
    """The execution of a row of `list_executions`, without its attempts."""
    return Execution(
        id=row[0],
        project=row[1],
        job_id=row[2],
        job_version=row[3],
        kind=KINDS[row[4]],
        state=STATES[row[5]],
        fire_time=row[6],
        run_at=row[7],
        queue=row[8],
        ability=row[9],
        created_at=row[10],
        payload=from_json(row[11]),
        key=row[12],
        attempt=row[13],
        charged=row[14],
        lost=row[15],
        returned=row[16],
        reason=row[17],
        worker=row[18],
        deadline=row[19],
        cancel_requested=bool(row[20]),
        started_at=row[21],
        ended_at=row[22],
        error=row[23],
        result=from_json(row[24]),
        revived_from=row[25],
    )


def lane_length_of(row: Any, state: State) -> LaneLength:
    """The lane of a row of `lane_lengths`."""
    queue, ability, count, project, job_id, job_version, run_at = row
    return LaneLength(
        queue=queue,
        ability=ability,
        state=state,
        count=count,
        project=project,
        job_id=job_id,
        job_version=job_version,
        run_at=run_at,
    )


def attempt_of(values: Any) -> Attempt:
    """The attempt of a row of `attempts`."""
    number, outcome, worker, started_at, ended_at, error, result = values
    return Attempt(
        number=number,
        outcome=OUTCOMES[outcome],
        worker=worker,
        started_at=started_at,
        ended_at=ended_at,
        error=error,
        result=from_json(result),
    )


def whole_execution(row: Any, attempts: list[Any], outcome: int | None) -> Execution:
    """The same with its attempts; the outcome is that of the last one, which is part of its row."""
    execution = execution_of(row)
    if outcome is not None:
        attempts = [*attempts, (row[13], outcome, row[18], row[21], row[22], row[23], row[24])]
    execution.attempts = shown_attempts(map(attempt_of, attempts))
    return execution
