"""The queue: executions become claimable, and go to one worker each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence

from tickwell.domain.execution import Claim, State
from tickwell.ports.records import Claimable, ClaimRequest, Promoted, Wakeup
from tickwell.stores.sql.codec import BLOCKED, QUEUED, SKIPPED
from tickwell.stores.sql.server import promoting
from tickwell.stores.sql.server.base import D, Part
from tickwell.stores.sql.server.claiming import held
from tickwell.stores.sql.server.settling import Settling


class SqlQueue(Part[D], ABC):
    """Moves executions to their workers."""

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        left_out = self.cache.unreadable.keys(now)
        found = await self.database.single(
            lambda session: session.rows("expired", now, left_out, limit)
        )
        expired, skipped = [tuple(row) for row in found], 0
        if expired:
            skipped = await self.database.write(
                lambda session: promoting.expire(session, self.cache, expired, now)
            )
        rows = await self.promote_free(now + horizon, left_out, limit)
        free = [id for id, _, is_free in rows if is_free]
        gated = [(id, job) for id, job, is_free in rows if not is_free]
        states = Counter({QUEUED: len(free)})
        if gated:
            states = await self.database.write(
                lambda session: promoting.admit(session, self.cache, gated, free, (now, horizon))
            )
        if states[QUEUED]:
            self.context.ring()
        return Promoted(
            queued=states[QUEUED],
            blocked=states[BLOCKED],
            skipped=states[SKIPPED] + skipped,
            expired=skipped,
            more=limit in {len(expired), len(rows)},
        )

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        if request.repeated:
            before = await self.database.read(lambda session: held(session, self.cache, request))
            if before:
                return before
        return await self.claim_new(request)

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        moved = await self.database.write(
            lambda session: Settling(session, self.cache, now).settle(ids, states, to, reason)
        )
        if moved:
            self.context.ring()
        return moved

    @abstractmethod
    async def promote_free(
        self, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        """Queue what needs no gate any more; all that was looked at: id, job, whether it is one."""

    @abstractmethod
    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        """Look at what is claimable, best rank first."""

    @abstractmethod
    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        """Hand over what the request asks for."""

    @abstractmethod
    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        """When a loop has to act next; `run` looks at these queues only, and only after now."""
