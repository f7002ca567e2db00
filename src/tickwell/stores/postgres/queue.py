"""The hot path on PostgreSQL: what takes one statement here."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.domain.outcome import Report
from tickwell.ports.records import Claimable, ClaimRequest
from tickwell.stores.postgres import claiming, finishing
from tickwell.stores.postgres.liveness import PostgresLiveness
from tickwell.stores.sql.server.queue import ServerQueue


class PostgresQueue(PostgresLiveness, ServerQueue):
    """`ports.store.QueueStore`."""

    async def promote_free(
        self, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        rows = await self.database.single(
            lambda session: session.rows("promote", until, NEVER, left_out, limit)
        )
        return [(id, job, is_free) for id, job, is_free in rows]

    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        return await self.database.single(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.database.single(lambda session: claiming.look(session, request))

    async def finish_quickly(self, reports: Sequence[Report]) -> list[Report]:
        return await self.database.single(lambda session: finishing.quickly(session, reports))
