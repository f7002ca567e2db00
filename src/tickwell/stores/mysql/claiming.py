"""Claims: what is queued goes to one worker, best rank first."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tickwell.domain.ability import is_able
from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.ports.records import Claimable, ClaimRequest
from tickwell.stores.mysql.listing import LANES
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.claiming import new_claim, up_to
from tickwell.stores.sql.flow.definitions import definitions
from tickwell.stores.sql.rows.codec import clean, from_json, ids_among

#: How often a claim looks again when it can read nothing, or not all, of what it picked.
LOOKS = 5

#: A queue and an ability.
Lane = tuple[str, str]
#: Rank, id, and the number of the lane.
Best = tuple[int, str, int]
#: What is due until when, and the jobs that are left out.
Rest = tuple[int, list[Any]]


async def claim(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """Hand over what the request asks for, inside a transaction."""
    for left in reversed(range(LOOKS)):
        rows = await pick(session, cache, request)
        whole = [row for row in rows if None not in row[9:12]]
        if left and len(whole) < len(rows):
            # Locks see what was committed while the statement ran, and what is read beside them
            # does not yet: the next look finds all of it, since nobody else can take it any more.
            continue
        jobs = await definitions(session, cache, [(row[1], row[9]) for row in whole], request.now)
        # What cannot be read here is left in the queue, for a worker that can.
        readable = [row for row in whole if row[1] in jobs]
        if readable:
            return await _start(session, request, readable, jobs)
        if not rows:
            break
    return []


async def look(session: Session, request: ClaimRequest) -> list[Claimable]:
    """What is claimable, best rank first."""
    lanes, rest = await _lanes(session, request), (request.now + request.lead, list[Any]())
    best = await _claimable(session, request, lanes, request.limit, rest)
    return [Claimable(id, lanes[number][0], rank) for rank, id, number in best]


async def _start(
    session: Session, request: ClaimRequest, rows: list[Any], jobs: dict[str, Job]
) -> list[Claim]:
    rows = up_to(request.most_bytes, rows, lambda row: row[11])
    ids, own = [row[0] for row in rows], [row[0] for row in rows if row[11]]
    head = request.worker, request.claim_id, request.now
    payloads = dict(await session.rows("start", ids, *head, own))
    return [
        new_claim(
            row, jobs[row[1]], row[10], request, from_json(payloads.get(row[0])), size=row[11]
        )
        for row in rows
    ]


async def pick(session: Session, cache: JobCache, request: ClaimRequest) -> list[Any]:
    """Lock what is to be handed over."""
    left_out = [*cache.unreadable.keys(request.now), *request.left_out]
    rest = request.now + request.lead, left_out
    lanes = await _lanes(session, request)
    if request.ids is not None:
        return await _pick_ids(session, request, lanes, ids_among(request.ids), rest)
    if len(lanes) == 1:
        return await _pick_lane(session, request, lanes[0], request.limit, rest)
    # Several lanes are merged before any row is locked: a lock on more than is taken would hide
    # rows from others, who would rest although there is work.
    best = await _claimable(session, request, lanes, request.limit, rest)
    if len(best) < request.limit:  # what of it cannot be had, others are taking
        ids = [id for _, id, _ in best]
        return await _pick_ids(session, request, lanes, ids, rest)
    return await _pick_of_crowd(session, request, lanes, best, rest)


async def _pick_of_crowd(
    session: Session, request: ClaimRequest, lanes: list[Lane], best: list[Best], rest: Rest
) -> list[Any]:
    """Lane by lane, where others of the lane take the place of what somebody else is taking.

    A lane that has not enough is spent, and the others are asked for more.
    """
    picked: dict[Lane, list[Any]] = {}
    room = request.limit
    while best:
        shares = Counter(lanes[number] for _, _, number in best)
        for lane, many in shares.items():
            if len(picked.get(lane, ())) < many:
                picked[lane] = await _pick_lane(session, request, lane, many, rest)
        spent = {lane for lane, many in shares.items() if len(picked[lane]) < many}
        if not spent:
            break
        room -= sum(len(picked[lane]) for lane in spent)
        lanes = [lane for lane in lanes if lane not in spent]
        best = await _claimable(session, request, lanes, room, rest)
    rows = [row for some in picked.values() for row in some]
    # Better ones may have come in between two looks: then more is locked than was asked for.
    return sorted(rows, key=lambda row: (row[12], row[0]))[: request.limit]


async def _lanes(session: Session, request: ClaimRequest) -> list[Lane]:
    """Where to look: with a shared handler, into the lanes of all projects that hold something."""
    queues, shared = list(dict.fromkeys(request.queues)), request.shared
    own = request.abilities - shared
    lanes = [(queue, ability) for queue in queues for ability in own]
    if shared and queues:
        found = await session.rows("lanes", queues)
        lanes += [lane for lane in found if lane[1] not in own and is_able(lane[1], shared)]
    return lanes


async def _pick_ids(
    session: Session, request: ClaimRequest, lanes: list[Lane], ids: list[str], rest: Rest
) -> list[Any]:
    if not ids or not lanes:
        return []
    head = clean(request.worker), request.now, request.limit
    queues, abilities = list({queue for queue, _ in lanes}), list({each for _, each in lanes})
    return await session.rows("pick_ids", *head, ids, queues, abilities, *rest)


async def _pick_lane(
    session: Session, request: ClaimRequest, lane: Lane, many: int, rest: Rest
) -> list[Any]:
    head = clean(request.worker), request.now, many
    return await session.rows("pick_lane", *head, *lane, *rest)


async def _claimable(
    session: Session, request: ClaimRequest, lanes: list[Lane], limit: int, rest: Rest
) -> list[Best]:
    """The best of these lanes, as long as nobody else takes them."""
    texts = [
        session.sql["best_of_lane"].format(
            number=number, queue=session.written(queue), ability=session.written(ability)
        )
        for number, (queue, ability) in enumerate(lanes)
    ]
    until, left_out = rest
    best: list[Best] = []
    for first in range(0, len(texts), LANES):
        text = " UNION ALL ".join(texts[first : first + LANES])
        best += await session.query(text, until, request.now, limit, left_out)
    return sorted(best)[:limit]
