"""The hot path on MySQL and MariaDB: what takes several statements here."""

from __future__ import annotations

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim
from tickwell.ports.records import Claimable, ClaimRequest
from tickwell.stores.mysql import claiming
from tickwell.stores.mysql.liveness import MysqlLiveness
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.server.queue import ServerQueue


class MysqlQueue(MysqlLiveness, ServerQueue):
    """`ports.store.QueueStore`."""

    async def promote_free(
        self, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        async def work(session: Session) -> list[tuple[str, str, bool]]:
            rows = await session.rows("promote", until, NEVER, left_out, limit)
            free = [id for id, _, is_free in rows if is_free]
            if free:
                await session.run("queue_free", free)
            return rows

        return await self.database.write(work)

    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        return await self.database.write(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.database.single(lambda session: claiming.look(session, request))
