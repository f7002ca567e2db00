"""Claims: what is queued goes to one worker, best rank first."""

from __future__ import annotations

from typing import Any

from tickwell.domain.execution import Claim
from tickwell.ports.records import ClaimRequest
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.claims import new_claim
from tickwell.stores.sql.codec import from_json
from tickwell.stores.sql.server.jobs import definitions
from tickwell.stores.sql.text import clean, ids_among

#: How often a claim looks again when others took all that it had picked.
LOOKS = 5
#: Lanes that are looked into by one statement.
LANES = 100


async def claim(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """Hand over what the request asks for, inside a transaction."""
    for _ in range(LOOKS):
        rows = await pick(session, cache, request)
        jobs = await definitions(session, cache, [(row[1], row[9]) for row in rows], request.now)
        # What cannot be read here is left in the queue, for whoever can.
        readable = [row for row in rows if row[1] in jobs]
        if readable:
            ids = [row[0] for row in readable]
            await session.run("start", ids, request.worker, request.claim_id, request.now)
            return [new_claim(row, jobs[row[1]], request, from_json(row[11])) for row in readable]
        if not rows:
            break
    return []


async def pick(session: Session, cache: JobCache, request: ClaimRequest) -> list[Any]:
    """Lock what is to be handed over."""
    head = clean(request.worker), request.now, request.limit
    rest = request.now + request.lead, cache.unreadable.keys(request.now)
    queues, abilities = list(dict.fromkeys(request.queues)), list(request.abilities)
    if request.ids is not None:
        ids = ids_among(request.ids)
        return await session.rows("pick_ids", *head, ids, queues, abilities, *rest)
    if len(queues) == 1 and len(abilities) == 1:
        return await session.rows("pick_lane", *head, queues[0], abilities[0], *rest)
    # Several lanes are merged before any row is locked: a lock on more than is taken would hide
    # rows from others, who would rest although there is work.
    for _ in range(LOOKS):
        ids = await _claimable(session, request, rest)
        if not ids:
            return []
        rows = await session.rows("pick_ids", *head, ids, queues, abilities, *rest)
        if rows:
            return rows
    return []


async def _claimable(
    session: Session, request: ClaimRequest, rest: tuple[int, list[Any]]
) -> list[str]:
    """The best of all lanes that the request is for, as long as nobody else takes them."""
    lanes = [
        session.sql["best_of_lane"].format(
            queue=session.written(queue), ability=session.written(ability)
        )
        for queue in dict.fromkeys(request.queues)
        for ability in request.abilities
    ]
    until, left_out = rest
    best: list[tuple[int, str]] = []
    for first in range(0, len(lanes), LANES):
        text = " UNION ALL ".join(lanes[first : first + LANES])
        best += await session.query(text, until, request.now, request.limit, left_out)
    return [id for _, id in sorted(best)[: request.limit]]
