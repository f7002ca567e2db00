"""The hot path on SQLite."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from tickwell.clock import NEVER
from tickwell.domain.execution import PENDING, Claim, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import Claimable, ClaimRequest, Finished, Fired, Promoted
from tickwell.ports.store import PlanMaker
from tickwell.stores.sql.apart import finish_apart
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

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, in_turn: bool = False
    ) -> Fired:
        span = now, now + horizon
        draft = await self.reader.call(
            lambda session: firing.draft(session, self.cache, span, limit, plan, in_turn=in_turn)
        )
        if not draft.plans:
            return Fired(more=draft.more)
        return await self.writer.call(
            lambda session: firing.write(session, self.cache, draft, now, horizon)
        )

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        left_out = json.dumps(self.cache.unreadable.keys(now))

        def look(session: Session) -> Promoted | None:
            waiting = now + horizon, NEVER, left_out, 1
            if session.row("expired", now, left_out, 1) or session.row("to_promote", *waiting):
                return None
            return Promoted()

        return await self.writer.call(
            lambda session: promoting.promote(session, self.cache, now, horizon, limit), look
        )

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        def look(session: Session) -> list[Claim] | None:
            return None if claiming.is_there_any(session, self.cache, request) else []

        handed = await self.writer.call(
            lambda session: claiming.hand_over(session, self.cache, request), look
        )
        return handed if isinstance(handed, list) else claiming.claims(handed, request)

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.reader.call(lambda session: claiming.look(session, request))

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        async def finish(some: Sequence[Report]) -> Finished:
            return await self.writer.call(
                lambda session: Finishing(session, self.cache, now).finish(some)
            )

        if not reports:
            return Finished()
        return await finish_apart(reports, finish, lambda error: isinstance(error, DATA_ERRORS))

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        # Only what is parked can be told to wait again: the rest would lose its place.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        codes = {STATE_CODE[state] for state in allowed.intersection(states)}
        target = STATE_CODE[to]

        def work(session: Session) -> list[str]:
            flow = Flow(session, self.cache)
            found = {id: session.row("pending_by_id", id) for id in ids}
            # Chosen before any moves: one that ends may let another of them into the queue.
            chosen = [id for id, row in found.items() if row is not None and row[3] in codes]
            for id in chosen:
                row = Row(*session.row("pending_by_id", id))
                if to in PENDING:
                    session.run("set_reason", clean(reason) if target == PARKED else None, row.key)
                    flow.wait(row, target)
                else:
                    flow.end(row, target, clean(reason), now)
            flow.close()
            return chosen

        return await self.writer.call(work)
