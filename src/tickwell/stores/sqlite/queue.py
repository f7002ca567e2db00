"""The hot path on SQLite."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tickwell.clock import NEVER
from tickwell.domain.execution import PENDING, Claim, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import ClaimRequest, Finished, Fired, Promoted
from tickwell.ports.store import Planner
from tickwell.stores.sql.codec import PARKED, STATE_CODE
from tickwell.stores.sql.text import clean
from tickwell.stores.sqlite import claiming, firing, promoting
from tickwell.stores.sqlite.finishing import Finishing
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.liveness import SqliteLiveness
from tickwell.stores.sqlite.rows import Row
from tickwell.stores.sqlite.session import Session

#: What Python raises for values that are no JSON, too deep, or too large.
DATA_ERRORS = (TypeError, ValueError, OverflowError, RecursionError)


class SqliteQueue(SqliteLiveness):
    """`ports.store.QueueStore`."""

    async def fire_due(self, now: int, horizon: int, limit: int, plan: Planner) -> Fired:
        draft = await self.reader.call(
            lambda session: firing.draft(session, self.cache, now + horizon, limit, plan)
        )
        fired = Fired()
        if draft.plans:
            fired = await self.writer.call(
                lambda session: firing.write(session, self.cache, draft, now, horizon)
            )
        if draft.error is not None:
            raise draft.error
        return fired

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        def look(session: Session) -> Promoted | None:
            if session.row("expired", now, 1) or session.row("to_promote", now + horizon, NEVER, 1):
                return None
            return Promoted()

        return await self.writer.call(
            lambda session: promoting.promote(session, self.cache, now, horizon, limit), look
        )

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        def look(session: Session) -> list[Claim] | None:
            return None if claiming.is_there_any(session, request) else []

        handed = await self.writer.call(
            lambda session: claiming.hand_over(session, self.cache, request), look
        )
        return handed if isinstance(handed, list) else claiming.claims(handed, request)

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        if not reports:
            return Finished()
        try:
            return await self.writer.call(
                lambda session: Finishing(session, self.cache, now).finish(reports)
            )
        except DATA_ERRORS as error:
            return await self._finish_apart(reports, now, error)

    async def _finish_apart(
        self, reports: Sequence[Report], now: int, error: Exception
    ) -> Finished:
        """One result that cannot be stored must not hold up the others: halve until it is alone."""
        if len(reports) == 1:
            (report,) = reports
            if report.result is None:
                raise error
            said = f"its result cannot be stored: {error}"
            kept = replace(report, result=None, error=report.error or said)
            finished = await self.finish([kept], now)
            return Finished(refused=finished.refused and [report], failures=finished.failures)
        middle = len(reports) // 2
        first = await self.finish(reports[:middle], now)
        second = await self.finish(reports[middle:], now)
        return Finished(
            refused=first.refused + second.refused, failures=first.failures | second.failures
        )

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        # Only what is parked can be told to wait again: the rest would lose its place.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        codes = {STATE_CODE[state] for state in allowed.intersection(states)}
        target = STATE_CODE[to]

        def work(session: Session) -> list[str]:
            flow = Flow(session, self.cache)
            moved = []
            for id in ids:
                found = session.row("pending_by_id", id)
                if found is None or found[3] not in codes:
                    continue
                moved.append(id)
                row = Row(*found)
                if to in PENDING:
                    session.run("set_reason", clean(reason) if target == PARKED else None, row.key)
                    flow.wait(row, target)
                else:
                    flow.end(row, target, clean(reason), now)
            flow.close()
            return moved

        return await self.writer.call(work)
