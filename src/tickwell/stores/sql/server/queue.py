"""The hot path on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence

from tickwell.domain.execution import Claim, State
from tickwell.domain.outcome import Report
from tickwell.ids import is_id
from tickwell.ports.records import ClaimRequest, Finished, Fired, Promoted
from tickwell.ports.store import PlanMaker
from tickwell.stores.sql.apart import finish_apart
from tickwell.stores.sql.codec import BLOCKED, QUEUED, SKIPPED
from tickwell.stores.sql.server import promoting
from tickwell.stores.sql.server.base import ServerBase
from tickwell.stores.sql.server.claiming import held
from tickwell.stores.sql.server.finishing import Finishing, is_quick, quickly
from tickwell.stores.sql.server.firing import Firing
from tickwell.stores.sql.server.recording import IdTaken
from tickwell.stores.sql.server.session import Session
from tickwell.stores.sql.server.settling import Settling


class ServerQueue(ServerBase, ABC):
    """`ports.store.QueueStore`, but for liveness."""

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, in_turn: bool = False
    ) -> Fired:
        async def fire(*, careful: bool) -> Fired:
            return await self.database.write(
                lambda session: Firing(session, self.cache, now, horizon).fire(
                    limit, plan, careful=careful, in_turn=in_turn
                )
            )

        due = now + horizon, self.cache.unreadable.keys(now, planning=True)
        if not await self.database.single(lambda session: session.row("is_due", *due)):
            return Fired()
        try:
            fired = await fire(careful=False)
        except IdTaken:
            fired = await fire(careful=True)
        if fired.executions:
            self.ring()
        return fired

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
            self.ring()
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

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        known = [report for report in reports if is_id(report.claim.id)]
        finished = Finished()
        if known:
            finished = await finish_apart(
                known, lambda some: self._finish(some, now), self._cannot_be_stored
            )
        if len(known) < len(reports):
            finished.refused += [report for report in reports if not is_id(report.claim.id)]
        return finished

    async def _finish(self, reports: Sequence[Report], now: int) -> Finished:
        quick = [report for report in reports if is_quick(report)]
        ended = await self.finish_quickly(quick) if quick else []
        if len(ended) == len(reports):
            return Finished()
        done = {id(report) for report in ended}
        rest = [report for report in reports if id(report) not in done]

        async def work(session: Session) -> tuple[Finished, bool]:
            finishing = Finishing(session, self.cache, now)
            return await finishing.finish(rest), finishing.stirred

        finished, stirred = await self.database.write(work)
        if stirred:
            self.ring()
        return finished

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        moved = await self.database.write(
            lambda session: Settling(session, self.cache, now).settle(ids, states, to, reason)
        )
        if moved:
            self.ring()
        return moved

    async def finish_quickly(self, reports: Sequence[Report]) -> list[Report]:
        """End what holds no permit; those that stood, of several on one execution the first."""
        return await self.database.write(lambda session: quickly(session, reports))

    @abstractmethod
    async def promote_free(
        self, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        """Queue what needs no gate any more; all that was looked at: id, job, whether it is one."""

    @abstractmethod
    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        """Hand over what the request asks for."""

    def _cannot_be_stored(self, error: Exception) -> bool:
        return error.__cause__ is not None and self.errors.is_bad_data(error.__cause__)
