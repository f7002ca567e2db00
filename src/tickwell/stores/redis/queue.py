"""The hot path on Redis."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tickwell.domain.execution import PENDING, Claim, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import Claimable, ClaimRequest, Finished, Fired, Promoted
from tickwell.ports.store import PlanMaker
from tickwell.stores.redis import finishing
from tickwell.stores.redis.firing import Firing
from tickwell.stores.redis.liveness import RedisLiveness
from tickwell.stores.redis.rows import dumps
from tickwell.stores.sql.codec import STATE_CODE
from tickwell.stores.sql.text import clean

#: How often a claim looks again when this process could read nothing of what it got.
LOOKS = 5


class RedisQueue(RedisLiveness):
    """`ports.store.QueueStore`."""

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, in_turn: bool = False
    ) -> Fired:
        fired = await Firing(self, now, horizon).fire(limit, plan, in_turn=in_turn)
        if fired.executions:
            self.bell.ring()
        return fired

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        answer = await self._promote(now, horizon, limit, checked=False)
        if len(answer) == 1:
            [jobs] = answer
            await self.definitions([(id, version) for id, version in jobs], now)
            answer = await self._promote(now, horizon, limit, checked=True)
        expired, looked_at, queued, blocked, skipped = answer
        if queued:
            self.bell.ring()
        return Promoted(
            queued=queued,
            blocked=blocked,
            skipped=skipped + expired,
            expired=expired,
            more=limit in {expired, looked_at},
        )

    async def _promote(self, now: int, horizon: int, limit: int, *, checked: bool) -> list[Any]:
        answer: list[Any] = await self.answer(
            "promote", now, horizon, limit, self.left_out(now), int(checked)
        )
        return answer

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        for _ in range(LOOKS):
            rows = await self.answer(
                "claim",
                request.worker,
                request.claim_id,
                request.now,
                request.lead,
                request.limit,
                int(request.repeated),
                dumps(request.queues),
                dumps(sorted(request.abilities)),
                dumps(False if request.ids is None else request.ids),
                self.left_out(request.now, *request.left_out),
                request.most_bytes,
            )
            claims = await self.claims_of(rows, request.now)
            readable = {claim.id for claim in claims}
            unreadable = [row[0] for row in rows if row[0] not in readable]
            if unreadable and not request.repeated:
                await self.client.call("take_back", request.worker, dumps(unreadable))
            if claims or not rows:
                return claims
        return []

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        rows = await self.answer(
            "claimable",
            request.now,
            request.lead,
            request.limit,
            dumps(request.queues),
            dumps(sorted(request.abilities)),
        )
        return [Claimable(*row) for row in rows]

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        if not reports:
            return Finished()
        finished, stirred = await finishing.finish(self, reports, now)
        if stirred:
            self.bell.ring()
        return finished

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        # Only what is parked can be told to wait again: the rest would lose its place.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        codes = sorted(STATE_CODE[state] for state in allowed.intersection(states))
        moved: list[str] = await self.answer(
            "settle", now, dumps(list(ids)), dumps(codes), STATE_CODE[to], clean(reason) or ""
        )
        if moved:
            self.bell.ring()
        return moved
