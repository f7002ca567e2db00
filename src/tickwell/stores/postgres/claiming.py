"""Claims: what is queued goes to one worker, best rank first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tickwell.domain.execution import Claim
from tickwell.ports.records import Claimable, ClaimRequest
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.claiming import new_claim
from tickwell.stores.sql.flow.definitions import definitions
from tickwell.stores.sql.rows.codec import from_json, ids_among

#: How often a claim looks again when it can read nothing of what it took.
LOOKS = 5


class Taken(NamedTuple):
    """What one statement took: rows, and the jobs that they name by their places from 1 on."""

    rows: list[Any]
    jobs: list[str]
    versions: list[int]
    hards: list[int]

    @property
    def bytes(self) -> int:
        """How much they bring along."""
        return sum(len(row[9] or "") for row in self.rows)


async def claim(session: Session, cache: JobCache, request: ClaimRequest) -> list[Claim]:
    """Hand over what the request asks for; each statement is a step that stands by itself."""
    for _ in range(LOOKS):
        claims, unreadable = list[Claim](), list[str]()
        for taken in await _take(session, cache, request):
            wanted = zip(taken.jobs, taken.versions, strict=True)
            jobs = await definitions(session, cache, wanted, request.now)
            known = [jobs.get(id) for id in taken.jobs]
            for row in taken.rows:
                index, payload = row[1] - 1, row[9]
                job, hard = known[index], taken.hards[index]
                if job is None:
                    unreadable.append(row[0])
                else:
                    size = len(payload or "")
                    claims.append(new_claim(row, job, hard, request, from_json(payload), size=size))
        if unreadable:
            await session.run("take_back", request.worker, request.claim_id, unreadable)
        if claims or not unreadable:
            return claims
    return []


async def look(session: Session, request: ClaimRequest) -> list[Claimable]:
    """What is claimable, best rank first."""
    queues, abilities = list(dict.fromkeys(request.queues)), list(request.abilities)
    until = request.now + request.lead
    rows = await session.rows("best_of_lanes", queues, abilities, until, request.limit)
    return [Claimable(*row) for row in rows]


async def _run(session: Session, name: str, *parameters: Any) -> Taken:
    first, *rows = await session.rows(name, *parameters)
    jobs, versions, hards = (column or [] for column in first[11:])
    return Taken(rows, jobs, list(map(int, versions)), list(map(int, hards)))


async def _take(session: Session, cache: JobCache, request: ClaimRequest) -> list[Taken]:
    queues, abilities = list(dict.fromkeys(request.queues)), list(request.abilities)
    left_out = [*cache.unreadable.keys(request.now), *request.left_out]
    head = *_head(request, request.most_bytes), left_out
    if request.ids is not None:
        wanted = queues, abilities, request.limit, ids_among(request.ids)
        return [await _run(session, "claim_ids", *head, *wanted)]
    if len(queues) == 1 and len(abilities) == 1 and not request.shared:
        return [await _run(session, "claim_lanes", *head, queues, abilities, [request.limit])]
    return await _take_merged(session, request, queues, abilities, left_out)


async def _take_merged(
    session: Session,
    request: ClaimRequest,
    queues: list[str],
    abilities: list[str],
    left_out: list[Any],
) -> list[Taken]:
    """The best of several lanes, which are merged before any row is locked.

    A lock on more than is taken would hide rows from others, who would rest although there is work.
    """
    until = request.now + request.lead
    found: list[Taken] = []
    spent: set[tuple[str, str]] = set()
    room, bytes = request.limit, request.most_bytes
    while room and bytes > 0:
        lanes = await session.rows(
            "claimable", *(queues, abilities, until, request.now, room, left_out), *_columns(spent)
        )
        if not lanes:
            break
        head = *_head(request, bytes), left_out
        taken = await _run(session, "claim_lanes", *head, *_columns(lanes, 3))
        found.append(taken)
        if sum(many for _, _, many in lanes) < room:
            break  # whatever else was there, others are taking it
        room -= len(taken.rows)
        bytes -= taken.bytes
        got = Counter(row[10] for row in taken.rows)
        spent |= {(lane[0], lane[1]) for index, lane in enumerate(lanes, 1) if got[index] < lane[2]}
    return found


def _head(request: ClaimRequest, bytes: int) -> tuple[str, str, int, int, int]:
    """What every claim begins with: for whom, up to how many bytes, and what is due by when."""
    until = request.now + request.lead
    return request.worker, request.claim_id, request.now, bytes, until


def _columns(rows: Collection[Sequence[Any]], width: int = 2) -> list[list[Any]]:
    return [[row[column] for row in rows] for column in range(width)]
