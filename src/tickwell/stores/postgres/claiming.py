"""Claims: what is queued goes to one worker, best rank first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from tickwell.domain.execution import Claim
from tickwell.ports.records import ClaimRequest
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.claims import new_claim
from tickwell.stores.sql.codec import from_json
from tickwell.stores.sql.server.jobs import definitions
from tickwell.stores.sql.text import ids_among

#: How often a claim looks again when it can read nothing of what it took.
LOOKS = 5


async def claim(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """Hand over what the request asks for; each statement is a step that stands by itself."""
    for _ in range(LOOKS):
        rows = await _take(session, cache, request)
        jobs = await definitions(session, cache, [(row[1], row[9]) for row in rows], request.now)
        unreadable = [row[0] for row in rows if row[1] not in jobs]
        if unreadable:
            await session.run("take_back", request.worker, request.claim_id, unreadable)
        if len(unreadable) < len(rows) or not rows:
            return [
                new_claim(row, jobs[row[1]], request, from_json(row[11]), len(row[11] or ""))
                for row in rows
                if row[1] in jobs
            ]
    return []


async def _take(session: Session, cache: JobCache, request: ClaimRequest) -> list[Any]:
    head = request.worker, request.claim_id, request.now
    rest = request.now + request.lead, cache.unreadable.keys(request.now)
    queues, abilities = list(dict.fromkeys(request.queues)), list(request.abilities)
    if request.ids is not None:
        ids = ids_among(request.ids)
        wanted = request.limit, ids, queues, abilities
        return await session.rows("claim_ids", *head, *wanted, *rest, request.most_bytes)
    if len(queues) == 1 and len(abilities) == 1:
        lane = queues, abilities, [request.limit]
        return await session.rows("claim_lanes", *head, *lane, *rest, request.most_bytes)
    return await _take_merged(session, request, queues, abilities, rest)


async def _take_merged(
    session: Session,
    request: ClaimRequest,
    queues: list[str],
    abilities: list[str],
    rest: tuple[int, list[Any]],
) -> list[Any]:
    """The best of several lanes, which are merged before any row is locked.

    A lock on more than is taken would hide rows from others, who would rest although there is work.
    """
    until, left_out = rest
    taken: list[Any] = []
    spent: set[tuple[str, str]] = set()
    bytes = request.most_bytes
    while (room := request.limit - len(taken)) and bytes > 0:
        lanes = await session.rows(
            "claimable", *(queues, abilities, until, request.now, room, left_out), *_columns(spent)
        )
        if not lanes:
            break
        head = request.worker, request.claim_id, request.now
        rows = await session.rows("claim_lanes", *head, *_columns(lanes, 3), *rest, bytes)
        taken += rows
        bytes -= sum(len(row[11] or "") for row in rows)
        if sum(many for _, _, many in lanes) < room:
            break  # whatever else was there, others are taking it
        got = Counter((row[12], row[13]) for row in rows)
        spent |= {(queue, ability) for queue, ability, many in lanes if got[queue, ability] < many}
    return taken


def _columns(rows: Collection[Sequence[Any]], width: int = 2) -> list[list[Any]]:
    return [[row[column] for row in rows] for column in range(width)]
