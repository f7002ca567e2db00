"""Claims: what is queued goes to one worker, best rank first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tickwell.domain.ability import is_able
from tickwell.domain.execution import Claim
from tickwell.domain.job import Job
from tickwell.ports.records import Claimable, ClaimRequest
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.claiming import held, new_claim, up_to
from tickwell.stores.sql.flow.definitions import definitions
from tickwell.stores.sql.rows.codec import from_json, read_own_json
from tickwell.stores.sqlite.session import SQL, Session

#: The columns of `claimable`: what `new_claim` takes, version, hard timeout, rank, key and bytes of
#: the payload; and the payload, read.
Found = tuple[Sequence[Any], Any]
#: Lanes that one statement merges; SQLite takes 500 at most.
TOGETHER = 100
#: What was found, and the definitions by the ids of the jobs.
Handed = tuple[list[Found], dict[str, Job]]


def is_there_any(session: Session, cache: JobCache, request: ClaimRequest) -> bool:
    """Whether a claim would find anything: looking takes no lock, so idle workers take none."""
    return request.repeated or bool(_claimable(session, cache, request, 1))


def look(session: Session, request: ClaimRequest) -> list[Claimable]:
    """What is claimable, best rank first."""
    lanes, until = _lanes(session, request), request.now + request.lead
    found: list[tuple[str, str, int]] = []
    for start in range(0, len(lanes), TOGETHER):
        some = lanes[start : start + TOGETHER]
        union = " UNION ALL ".join([SQL["best_of_lane"]] * len(some))
        asked = [value for lane in some for value in (*lane, until)]
        found += session.connection.execute(
            f"{union} ORDER BY 3, 1 LIMIT ?", (*asked, request.limit)
        ).fetchall()
    found.sort(key=lambda row: (row[2], row[0]))
    return [Claimable(*row) for row in found[: request.limit]]


async def hand_over(
    session: Session, cache: JobCache, request: ClaimRequest
) -> Handed | list[Claim]:
    """Hand over what the request asks for, inside a transaction; or what it was given before."""
    if not session.execute("is_alive", request.worker).fetchone():
        return []
    if request.repeated:
        before = await held(session, cache, request)
        if before:
            return before
    found, jobs = await _readable(session, cache, request)
    if not found:
        return []
    keys = json.dumps([row[12] for row, _ in found])
    session.execute("start", request.worker, request.claim_id, request.now, keys)
    session.execute("drop_claimed", keys)
    return found, jobs


def claims(handed: Handed, request: ClaimRequest) -> list[Claim]:
    """What was handed over, as the worker knows it; made when the lock is free again."""
    found, jobs = handed
    return [
        new_claim(row, jobs[row[1]], row[10], request, payload, size=row[13])
        for row, payload in found
    ]


async def _readable(session: Session, cache: JobCache, request: ClaimRequest) -> Handed:
    """What may be handed over; where all of it turns out to be unreadable, what comes after it."""
    while found := _claimable(session, cache, request, request.limit):
        wanted = [(row[1], row[9]) for row, _ in found]
        jobs = await definitions(session, cache, wanted, request.now)
        if jobs:
            return [one for one in found if one[0][1] in jobs], jobs
    return [], {}


def _claimable(session: Session, cache: JobCache, request: ClaimRequest, limit: int) -> list[Found]:
    left_out = json.dumps([*cache.unreadable.keys(request.now), *request.left_out])
    bounds = request.now + request.lead, request.now, left_out
    if request.ids is not None:
        return up_to(request.most_bytes, _among(session, request, bounds)[:limit], _bytes)
    lanes = _lanes(session, request)
    found: list[Found] = []
    for start in range(0, len(lanes), TOGETHER):
        some = lanes[start : start + TOGETHER]
        asked = [value for lane in some for value in (*lane, *bounds)]
        columns, payloads = session.connection.execute(
            _statement(len(some)), (*asked, limit, request.most_bytes, request.most_bytes)
        ).fetchone()
        found += zip(read_own_json(columns), json.loads(payloads), strict=True)
    if len(lanes) <= TOGETHER:
        return found
    return up_to(request.most_bytes, sorted(found, key=_place)[:limit], _bytes)


def _place(found: Found) -> tuple[int, str]:
    """Best rank first."""
    row, _ = found
    return row[11], row[0]


def _bytes(found: Found) -> int:
    size: int = found[0][13]
    return size


@lru_cache(maxsize=64)
def _statement(lanes: int) -> str:
    return SQL["claimable"].format(lanes=" UNION ALL ".join([SQL["lane"]] * lanes))


def _lanes(session: Session, request: ClaimRequest) -> list[tuple[str, str]]:
    if len(request.queues) == 1 and len(request.abilities) == 1 and not request.shared:
        return [(request.queues[0], next(iter(request.abilities)))]
    queues = json.dumps(list(dict.fromkeys(request.queues)))
    return [
        lane
        for lane in session.execute("lanes", queues).fetchall()
        if is_able(lane[1], request.abilities)
    ]


def _among(session: Session, request: ClaimRequest, bounds: tuple[int, int, str]) -> list[Found]:
    ids = json.dumps(list(dict.fromkeys(request.ids or ())))
    rows = session.execute("claimable_ids", ids, *bounds).fetchall()
    able = [
        row for row in rows if row[15] in request.queues and is_able(row[16], request.abilities)
    ]
    return sorted(((row, from_json(row[14])) for row in able), key=_place)
