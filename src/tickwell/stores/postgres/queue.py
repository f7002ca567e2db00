"""The hot path on PostgreSQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import PENDING, Claim, State
from tickwell.domain.outcome import Report
from tickwell.errors import StoreError
from tickwell.ports.records import ClaimRequest, Finished, Fired, Promoted
from tickwell.ports.store import Planner
from tickwell.stores.postgres import claiming
from tickwell.stores.postgres.errors import is_bad_data
from tickwell.stores.postgres.liveness import PostgresLiveness
from tickwell.stores.postgres.session import Session
from tickwell.stores.sql.codec import BLOCKED, PARKED, QUEUED, SKIPPED, STATE_CODE
from tickwell.stores.sql.server import promoting
from tickwell.stores.sql.server.claiming import held
from tickwell.stores.sql.server.finishing import Finishing, is_quick, quickly
from tickwell.stores.sql.server.firing import Firing
from tickwell.stores.sql.server.flow import Flow
from tickwell.stores.sql.server.recording import IdTaken
from tickwell.stores.sql.text import clean, ids_among, is_id


class PostgresQueue(PostgresLiveness):
    """`ports.store.QueueStore`."""

    async def fire_due(self, now: int, horizon: int, limit: int, plan: Planner) -> Fired:
        async def fire(*, careful: bool) -> tuple[Fired, Exception | None]:
            async def work(session: Session) -> tuple[Fired, Exception | None]:
                firing = Firing(session, self.cache, now, horizon)
                return await firing.fire(limit, plan, careful=careful), firing.error

            return await self.database.write(work)

        if not await self.database.single(lambda session: session.row("is_due", now + horizon)):
            return Fired()
        try:
            fired, error = await fire(careful=False)
        except IdTaken:
            fired, error = await fire(careful=True)
        if fired.executions:
            self.bell.ring()
        if error is not None:
            raise error
        return fired

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        expired = await self._found("expired", now, limit)
        skipped = 0
        if expired:
            skipped = await self.database.write(
                lambda session: promoting.expire(session, self.cache, expired, now)
            )
        rows = await self._found("promote", now + horizon, NEVER, limit)
        free = [id for id, _, is_free in rows if is_free]
        gated = [(id, job) for id, job, is_free in rows if not is_free]
        states = Counter({QUEUED: len(free)})
        if gated:
            states = await self.database.write(
                lambda session: promoting.admit(session, self.cache, gated, free, (now, horizon))
            )
        if states[QUEUED]:
            self.bell.ring()
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
        return await self.database.single(
            lambda session: claiming.claim(session, self.cache, request)
        )

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        """One that cannot be stored is found by halving the batch, and stored without its text."""
        unknown = [report for report in reports if not is_id(report.claim.id)]
        if unknown:
            finished = await self.finish([r for r in reports if is_id(r.claim.id)], now)
            finished.refused += unknown
            return finished
        if not reports:
            return Finished()
        try:
            return await self._finish(reports, now)
        except StoreError as error:
            if error.__cause__ is None or not is_bad_data(error.__cause__):
                raise
            if len(reports) == 1:
                bare = replace(reports[0], error=f"could not be stored: {error}", result=None)
                return await self._finish([bare], now)
        return await self._halve(reports, now)

    async def _halve(self, reports: Sequence[Report], now: int) -> Finished:
        half = len(reports) // 2
        finished, problem = Finished(), None
        for part in (reports[:half], reports[half:]):
            try:
                done = await self.finish(part, now)
            except StoreError as error:  # raised once its neighbours are written
                problem = error
            else:
                finished.refused += done.refused
                finished.failures |= done.failures
        if problem is not None:
            raise problem
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

        async def work(session: Session) -> tuple[Finished, bool]:
            finishing = Finishing(session, self.cache, now)
            return await finishing.finish(rest), finishing.stirred

        finished, stirred = await self.database.write(work)
        if stirred:
            self.bell.ring()
        return finished

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        # Only what is parked can be told to wait again: the rest would lose its place.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        codes = {STATE_CODE[state] for state in allowed.intersection(states)}
        asked, target = ids_among(ids), STATE_CODE[to]

        async def work(session: Session) -> list[str]:
            flow = Flow(session, self.cache)
            jobs = await session.rows("jobs_of_pending", asked)
            await flow.locks.jobs_with_gates([job for (job,) in jobs])
            moved = []
            for id in asked:
                row = await flow.gates.load(id)
                if row is None or row.state not in codes:
                    continue
                moved.append(id)
                if to in PENDING:
                    why = clean(reason) if target == PARKED else None
                    await session.run("set_reason", why, id)
                    await flow.wait(row, target)
                else:
                    await flow.end(row, target, clean(reason), now)
            await flow.close()
            return moved

        moved = await self.database.write(work)
        if moved:
            self.bell.ring()
        return moved

    async def _found(self, name: str, *parameters: int) -> list[tuple[Any, ...]]:
        rows = await self.database.single(lambda session: session.rows(name, *parameters))
        return [tuple(row) for row in rows]


def _firsts(reports: Sequence[Report]) -> list[Report]:
    """Of several reports on one execution, the first."""
    return list({report.claim.id: report for report in reversed(reports)}.values())
