"""Claims from rows: new ones, and those that a worker holds already."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, TypeVar

from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.domain.policy import MINUTE
from tickwell.ports.records import ClaimRequest
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.definitions import definitions
from tickwell.stores.sql.rows.codec import KINDS, from_json
from tickwell.stores.sql.session import Session


async def held(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """What a claim whose reply was lost still holds."""
    rows = await session.rows("held_claims", request.worker, request.claim_id)
    return await claims_of(session, cache, rows, request.now)


async def claims_of(session: Session, cache: JobCache, rows: list[Any], now: int) -> list[Claim]:
    """Running executions, given as `held_claims` has them, as their workers know them."""
    jobs = await definitions(session, cache, [(row[1], row[14]) for row in rows], now)
    return [held_claim(row, jobs[row[1]]) for row in rows if row[1] in jobs]


T = TypeVar("T")


def up_to(most: int, found: Iterable[T], size_of: Callable[[T], int]) -> list[T]:
    """The first of what was found, until their payloads come to so many bytes."""
    taken, bytes = list[T](), 0
    for one in found:
        if bytes >= most:
            break
        taken.append(one)
        bytes += size_of(one)
    return taken


def new_claim(
    row: Any, job: Job, hard: int, request: ClaimRequest, own_payload: Any, *, size: int
) -> Claim:
    """What was handed over just now, given as it was queued.

    Columns: id, job, kind, attempt, charged, lost, returned, fire_time, run_at.
    """
    id, _, kind, attempt, charged, lost, returned, fire_time, run_at, *_ = row
    return Claim(
        id,
        job,
        KINDS[kind],
        attempt + 1,
        charged + 1,
        lost,
        returned,
        fire_time,
        run_at,
        _payload(job) if own_payload is None else own_payload,
        max(request.now, run_at) + hard + MINUTE,
        request.worker,
        request.claim_id,
        size,
    )


def held_claim(row: Any, job: Job) -> Claim:
    """A running execution as its worker knows it, from a row of `held_claims` or `orphans`."""
    return Claim(
        id=row[0],
        job=job,
        kind=KINDS[row[2]],
        attempt=row[3],
        charged=row[4],
        lost=row[5],
        returned=row[6],
        fire_time=row[7],
        run_at=row[8],
        payload=_payload(job) if row[9] is None else from_json(row[9]),
        deadline=row[10],
        worker=row[11],
        claim_id=row[12],
        size=len(row[9] or ""),
        started_at=row[13],
    )


def _payload(job: Job) -> Any:
    """The job's, for this attempt alone: a handler may change what it gets."""
    return deepcopy(job.payload) if isinstance(job.payload, dict | list) else job.payload
