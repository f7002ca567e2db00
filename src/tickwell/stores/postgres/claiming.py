"""Claims: what is queued goes to one worker, best rank first."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.domain.policy import MINUTE
from tickwell.ports.records import ClaimRequest
from tickwell.stores.postgres.jobs import definitions
from tickwell.stores.postgres.session import Session
from tickwell.stores.postgres.text import ids_among
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import KINDS, from_json

#: How often a claim looks again when others took all that it had picked.
LOOKS = 5


async def held(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """What a claim whose reply was lost still holds."""
    rows = await session.rows("held_claims", request.worker, request.claim_id)
    return await claims_of(session, cache, rows)


async def claim(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """Hand over what the request asks for; each statement is a step that stands by itself."""
    rows = await _take(session, request)
    jobs = await definitions(session, cache, [(row[1], row[9]) for row in rows])
    return [_claim(row, jobs[row[1]], request) for row in rows]


async def claims_of(session: Session, cache: JobCache, rows: list[Any]) -> list[Claim]:
    """Running executions, given as `held_claims` has them, as their workers know them."""
    jobs = await definitions(session, cache, [(row[1], row[13]) for row in rows])
    return [
        Claim(
            id=row[0],
            job=jobs[row[1]],
            kind=KINDS[row[2]],
            attempt=row[3],
            charged=row[4],
            lost=row[5],
            returned=row[6],
            fire_time=row[7],
            run_at=row[8],
            payload=_payload(row[9], jobs[row[1]]),
            deadline=row[10],
            worker=row[11],
            claim_id=row[12],
        )
        for row in rows
    ]


async def _take(session: Session, request: ClaimRequest) -> list[Any]:
    head = request.worker, request.claim_id, request.now, request.limit
    until = request.now + request.lead
    queues, abilities = list(dict.fromkeys(request.queues)), list(request.abilities)
    if request.ids is not None:
        ids = ids_among(request.ids)
        return await session.rows("claim_ids", *head, ids, queues, abilities, until)
    if len(queues) == 1 and len(abilities) == 1:
        return await session.rows("claim_lane", *head, queues[0], abilities[0], until)
    # Several lanes are merged before any row is locked: a lock on more than is taken would hide
    # rows from others, who would rest although there is work.
    for _ in range(LOOKS):
        picked = await session.rows(
            "claimable", queues, abilities, until, request.now, request.limit
        )
        ids = [id for (id,) in picked]
        if not ids:
            return []
        rows = await session.rows("claim_ids", *head, ids, queues, abilities, until)
        if rows:
            return rows
    return []


def _claim(row: Any, job: Job, request: ClaimRequest) -> Claim:
    id, _, kind, attempt, charged, lost, returned, fire_time, run_at, _, hard, payload = row
    return Claim(
        id=id,
        job=job,
        kind=KINDS[kind],
        attempt=attempt + 1,
        charged=charged + 1,
        lost=lost,
        returned=returned,
        fire_time=fire_time,
        run_at=run_at,
        payload=_payload(payload, job),
        deadline=max(request.now, run_at) + hard + MINUTE,
        worker=request.worker,
        claim_id=request.claim_id,
    )


def _payload(own: str | None, job: Job) -> Any:
    """The caller's own: a handler may change what it gets."""
    if own is not None:
        return from_json(own)
    return deepcopy(job.payload) if isinstance(job.payload, dict | list) else job.payload
