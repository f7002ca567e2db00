"""Claims: what is queued goes to one worker, best rank first."""

from __future__ import annotations

from typing import Any

from tickwell.domain.execution import Claim
from tickwell.ports.records import ClaimRequest
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.claims import new_claim
from tickwell.stores.sql.server.jobs import definitions
from tickwell.stores.sql.text import ids_among

#: How often a claim looks again when others took all that it had picked.
LOOKS = 5


async def claim(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """Hand over what the request asks for; each statement is a step that stands by itself."""
    rows = await _take(session, request)
    jobs = await definitions(session, cache, [(row[1], row[9]) for row in rows])
    return [new_claim(row, jobs[row[1]], request) for row in rows]


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
