"""The hot path on PostgreSQL: what takes one statement here."""

from __future__ import annotations

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.ports.records import ClaimRequest
from tickwell.stores.postgres import claiming
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
