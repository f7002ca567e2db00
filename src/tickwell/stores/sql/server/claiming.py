"""Claims that were made before."""

from __future__ import annotations

from typing import Any

from tickwell.domain.execution import Claim
from tickwell.ports.records import ClaimRequest
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.claims import held_claim
from tickwell.stores.sql.server.jobs import definitions
from tickwell.stores.sql.server.session import Session


async def held(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """What a claim whose reply was lost still holds."""
    rows = await session.rows("held_claims", request.worker, request.claim_id)
    return await claims_of(session, cache, rows, request.now)


async def claims_of(session: Session, cache: JobCache, rows: list[Any], now: int) -> list[Claim]:
    """Running executions, given as `held_claims` has them, as their workers know them."""
    jobs = await definitions(session, cache, [(row[1], row[14]) for row in rows], now)
    return [held_claim(row, jobs[row[1]]) for row in rows if row[1] in jobs]
