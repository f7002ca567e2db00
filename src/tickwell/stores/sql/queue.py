"""The queue: executions become claimable, and go to one worker each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from tickwell.domain.execution import Claim, State
from tickwell.ports.records import Claimable, ClaimRequest, Promoted, Wakeup
from tickwell.stores.sql.flow import promoting
from tickwell.stores.sql.flow.claiming import held
from tickwell.stores.sql.flow.settling import Settling
from tickwell.stores.sql.parts import D, Database, Part


class SqlQueue(Part[D], ABC):
    """Moves executions to their workers."""

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        promoted = await promoting.promote(
            self.database, self.cache, self.promote_free, (now, horizon), limit
        )
        if promoted.queued:
            self.context.ring()
        return promoted

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
        self, database: Database, until: int, left_out: list[str], limit: int
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
