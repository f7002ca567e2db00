"""The hot path on MySQL and MariaDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import Claim, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import ClaimRequest, Finished, Fired, Promoted
from tickwell.ports.store import PlanMaker
from tickwell.stores.mysql import claiming
from tickwell.stores.mysql.errors import is_bad_data
from tickwell.stores.mysql.liveness import MysqlLiveness
from tickwell.stores.mysql.session import Session
from tickwell.stores.sql.apart import finish_apart
from tickwell.stores.sql.codec import BLOCKED, QUEUED, SKIPPED
from tickwell.stores.sql.server import promoting
from tickwell.stores.sql.server.claiming import held
from tickwell.stores.sql.server.finishing import Finishing, is_quick, quickly
from tickwell.stores.sql.server.firing import Firing
from tickwell.stores.sql.server.recording import IdTaken
from tickwell.stores.sql.server.settling import Settling
from tickwell.stores.sql.text import is_id


class MysqlQueue(MysqlLiveness):
    """`ports.store.QueueStore`."""

    async def fire_due(self, now: int, horizon: int, limit: int, plan: PlanMaker) -> Fired:
        async def fire(*, careful: bool) -> Fired:
            return await self.database.write(
                lambda session: Firing(session, self.cache, now, horizon).fire(
                    limit, plan, careful=careful
                )
            )

        due = now + horizon, self.cache.unreadable.keys(now, planning=True)
        if not await self.database.single(lambda session: session.row("is_due", *due)):
            return Fired()
        try:
            return await fire(careful=False)
        except IdTaken:
            return await fire(careful=True)

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        left_out = self.cache.unreadable.keys(now)
        expired = await self.database.single(
            lambda session: session.rows("expired", now, left_out, limit)
        )
        skipped = 0
        if expired:
            skipped = await self.database.write(
                lambda session: promoting.expire(session, self.cache, expired, now)
            )
        rows, free = await self.database.write(
            lambda session: _promote(session, now + horizon, left_out, limit)
        )
        gated = [(id, job) for id, job, is_free in rows if not is_free]
        states = Counter({QUEUED: len(free)})
        if gated:
            states = await self.database.write(
                lambda session: promoting.admit(session, self.cache, gated, free, (now, horizon))
            )
        return Promoted(
            queued=states[QUEUED],
            blocked=states[BLOCKED],
            skipped=states[SKIPPED] + skipped,
            more=limit in {len(expired), len(rows)},
        )

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        if request.repeated:
            before = await self.database.read(lambda session: held(session, self.cache, request))
            if before:
                return before
        return await self.database.write(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        known = [report for report in reports if is_id(report.claim.id)]
        finished = Finished()
        if known:
            finished = await finish_apart(
                known, lambda some: self._finish(some, now), _cannot_be_stored
            )
        finished.refused += [report for report in reports if not is_id(report.claim.id)]
        return finished

    async def _finish(self, reports: Sequence[Report], now: int) -> Finished:
        quick = [report for report in reports if is_quick(report)]
        ended: set[str] = set()
        if quick:
            ended = await self.database.write(lambda session: quickly(session, quick))
        done = {id(r) for r in _firsts(quick) if r.claim.id in ended}
        rest = [report for report in reports if id(report) not in done]
        if not rest:
            return Finished()
        return await self.database.write(
            lambda session: Finishing(session, self.cache, now).finish(rest)
        )

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        return await self.database.write(
            lambda session: Settling(session, self.cache, now).settle(ids, states, to, reason)
        )


async def _promote(
    session: Session, until: int, left_out: list[Any], limit: int
) -> tuple[list[Any], list[str]]:
    """Queue what needs no gate any more; all that was looked at, and the ids of those."""
    rows = await session.rows("promote", until, NEVER, left_out, limit)
    free = [id for id, _, is_free in rows if is_free]
    if free:
        await session.run("queue_free", free)
    return rows, free


def _firsts(reports: Sequence[Report]) -> list[Report]:
    """Of several reports on one execution, the first."""
    return list({report.claim.id: report for report in reversed(reports)}.values())


def _cannot_be_stored(error: Exception) -> bool:
    return error.__cause__ is not None and is_bad_data(error.__cause__)
