"""What is particular to SQLite in the operations of a SQL store.

Plans and changes are decided in the thread that reads, without a lock, and checked and written in
the thread that writes; an operation of several transactions elsewhere is one here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tickwell.clock import NEVER
from tickwell.domain.change import Change, Changed, Changer
from tickwell.domain.execution import Claim
from tickwell.domain.job import Cursor, Entry
from tickwell.domain.outcome import Report
from tickwell.ports.records import Claimable, ClaimRequest, Finished, Fired, Promoted, Wakeup
from tickwell.ports.store import PlanMaker
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.catalog import SqlCatalog
from tickwell.stores.sql.flow import promoting
from tickwell.stores.sql.flow.finishing import SqlReports
from tickwell.stores.sql.flow.firing import Firing, Planned, SqlFiring
from tickwell.stores.sql.flow.pruning import SqlPruning
from tickwell.stores.sql.parts import Database as SqlDatabase
from tickwell.stores.sql.queue import SqlQueue
from tickwell.stores.sql.rows.codec import ids_among
from tickwell.stores.sql.rows.entries import entry_of, own
from tickwell.stores.sql.session import Session as SqlSession
from tickwell.stores.sqlite import claiming
from tickwell.stores.sqlite.database import Database, Transaction
from tickwell.stores.sqlite.session import Session

#: Executions that are recorded one by one in a transaction, at 0.1 ms each.
SLOWLY = 500
#: Jobs whose history is pruned in one transaction, at up to 3 ms each: with 500 executions on
#: record per job, 500 jobs in one transaction kept every other write waiting for 1.4 s.
JOBS = 20


class SqliteFiring(SqlFiring[Database]):
    """Plans jobs that are due, outside the write lock."""

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired:
        planned, more = await self.database.read(
            lambda session: Firing(session, self.cache, now, horizon).plan(
                limit, plan, round_robin=round_robin
            )
        )
        if not planned:
            return Fired(more=more)

        async def write(session: SqlSession, careful: bool) -> Fired:  # noqa: FBT001
            firing = Firing(session, self.cache, now, horizon)
            firing.slow_limit = SLOWLY
            return await firing.record(
                await _unchanged(session, planned), more=more, careful=careful
            )

        return await self.write(write)


async def _unchanged(session: SqlSession, planned: list[Planned]) -> list[Planned]:
    """The plans whose jobs are as they were read; the others are still due."""
    rows = await session.rows("cursors", [one.job.id for one in planned])
    current = {row[0]: row for row in rows}
    unchanged = []
    for one in planned:
        row = current.get(one.job.id)
        if row is not None and row[:10] == one.row[:10]:
            # The gate may have changed hands, which is no matter of the plan.
            unchanged.append(Planned(row, one.job, one.plan))
    return unchanged


class SqliteQueue(SqlQueue[Database]):
    """Moves executions to their workers."""

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        left_out = self.cache.unreadable.keys(now)

        def look(session: Session) -> Promoted | None:
            waiting = now + horizon, NEVER, left_out, 1
            if session.execute("expired", now, left_out, 1).fetchone():
                return None
            return None if session.execute("promote", *waiting).fetchone() else Promoted()

        return await self.database.write(
            lambda session: promoting.promote(
                Transaction(session), self.cache, self.promote_free, (now, horizon), limit
            ),
            look,
        )

    async def promote_free(
        self, database: SqlDatabase, until: int, left_out: list[str], limit: int
    ) -> list[tuple[str, str, bool]]:
        async def work(session: SqlSession) -> list[tuple[str, str, bool]]:
            rows: list[tuple[str, str, bool]] = await session.rows(
                "promote", until, NEVER, left_out, limit
            )
            free = [id for id, _, is_free in rows if is_free]
            if free:
                await session.run("queue_free", free)
            return rows

        return await database.write(work)

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        return await self.claim_new(request)

    async def claim_new(self, request: ClaimRequest) -> list[Claim]:
        """Or find again, in the same transaction, what an earlier claim was given."""

        def look(session: Session) -> list[Claim] | None:
            return None if claiming.is_there_any(session, self.cache, request) else []

        handed = await self.database.write(
            lambda session: claiming.hand_over(session, self.cache, request), look
        )
        return handed if isinstance(handed, list) else claiming.claims(handed, request)

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        return await self.database.reader.call(lambda session: claiming.look(session, request))

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        unreadable = self.cache.unreadable
        left_out, not_planned = unreadable.keys(now), unreadable.keys(now, planning=True)

        async def work(session: Session) -> Wakeup:
            if queues is None:
                run = await session.value("next_run_anywhere", now)
            else:
                run = await session.value("next_run", now, list(queues))
            return Wakeup(
                fire=await session.value("next_fire", not_planned),
                promote=await session.value("next_look", NEVER, left_out),
                expire=await session.value("next_expiry", left_out),
                run=run,
                unreadable=unreadable.news(),
            )

        return await self.database.read(work)


class SqliteReports(SqlReports[Database]):
    """Ends attempts, all of a batch in one transaction."""

    async def _finish(self, reports: Sequence[Report], now: int) -> Finished:
        return await self.database.write(
            lambda session: self.finish_on(Transaction(session), reports, now)
        )


class SqlitePruning(SqlPruning[Database]):
    """Deletes what is past its retention; all other writes wait for each transaction of it."""

    jobs_at_once = JOBS

    async def drop_gates(self, limit: int) -> int:
        """A gate in which no permit is held has no row."""
        return 0


class SqliteCatalog(SqlCatalog[Database]):
    """`ports.store.CatalogStore`; changes are decided outside the write lock."""

    async def change_jobs(
        self, project: str, ids: Sequence[str], change: Changer, now: int
    ) -> list[Changed]:
        drafts = await self.database.read(
            lambda session: _drafts(session, self.cache, ids, change, now)
        )
        return await super().change_jobs(project, ids, drafts.change, now)


class _Drafts:
    """Changes that were decided, each for a job as it was read."""

    def __init__(self, change: Changer) -> None:
        self._change = change
        self._made: dict[str, tuple[int, Cursor, Change | None]] = {}

    def add(self, entry: Entry, now: int) -> None:
        """Decide on a job."""
        made = self._change(own(entry), now)
        self._made[entry.job.id] = entry.job.version, entry.cursor, made

    def change(self, entry: Entry, now: int) -> Change | None:
        """What was decided on a job; where it moved meanwhile, what is decided now."""
        version, cursor, made = self._made.get(entry.job.id, (0, None, None))
        if (version, cursor) == (entry.job.version, entry.cursor):
            return made
        return self._change(entry, now)


async def _drafts(
    session: Session, cache: JobCache, ids: Sequence[str], change: Changer, now: int
) -> _Drafts:
    """Decide on each job, up to the first that cannot be changed: that is said when it is met."""
    drafts = _Drafts(change)
    rows = {row[0]: row for row in await session.rows("entries", ids_among(ids))}
    for id in ids:
        try:
            drafts.add(entry_of(cache, rows[id]), now)
        except Exception:  # noqa: BLE001 - decided again, and raised, under the lock
            break
    return drafts
