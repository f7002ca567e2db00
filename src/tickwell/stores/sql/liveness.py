"""Workers: beats, loss, and what a lost worker leaves behind."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.execution import Claim, Start
from tickwell.domain.rate import is_rate, period_of
from tickwell.domain.worker import Liveness, Pulse, Worker
from tickwell.stores.sql.flow.claiming import claims_of
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.parts import D, Part
from tickwell.stores.sql.rows.codec import clean
from tickwell.stores.sql.rows.executions import liveness_of, owned_of, worker_to_json
from tickwell.stores.sql.session import Session


class SqlLiveness(Part[D]):
    """Follows workers and what they run."""

    async def beat(self, worker: Worker, now: int, *, leaving: bool = False) -> Pulse:
        document = worker_to_json(worker)

        async def work(session: Session) -> Pulse:
            beat, lost = await session.row("beat", clean(worker.id), now, document)
            owned = [owned_of(row) for row in await session.rows("owned", clean(worker.id))]
            if leaving and not owned:
                await session.run("forget_worker", clean(worker.id))
            return Pulse(worker=worker.id, beat=beat, lost=bool(lost), owned=owned)

        return await self.database.write(work)

    async def declare_lost(self, worker_id: str, beat: int, now: int) -> bool:
        async def work(session: Session) -> bool:
            await session.run("declare_lost", clean(worker_id), beat)
            lost = await session.value("is_lost", clean(worker_id))
            return lost is None or bool(lost)  # one that nobody knows is lost

        return await self.database.write(work)

    async def orphans(self, now: int, limit: int) -> list[Claim]:
        async def work(session: Session) -> list[Claim]:
            left_out = self.cache.unreadable.keys(now)
            rows = await session.rows("orphans", now, left_out, limit)
            return await claims_of(session, self.cache, rows, now)

        return await self.database.read(work)

    async def record_starts(self, starts: Sequence[Start]) -> list[str]:
        # By id, so that two who write the same rows wait for each other instead of deadlocking.
        rows = sorted((one.id, one.attempt, one.started_at) for one in starts)
        keys = [(started_at, id, attempt) for id, attempt, started_at in rows]
        found = await self.database.write_one(lambda session: session.many("record_starts", keys))
        rated = {id: (job, gate) for id, job, gate in found if is_rate(gate)}
        if rated:
            some = [one for one in starts if one.id in rated]
            await self.database.write(lambda session: self._give_back(session, some, rated))
            self.context.ring()
        return [id for id, _, _ in found]

    async def _give_back(
        self, session: Session, starts: Sequence[Start], rated: dict[str, tuple[str, str]]
    ) -> None:
        """Give the permits of rates back: when they can be had again is known by now."""
        flow = Flow(session, self.cache)
        await flow.locks.jobs(job for job, _ in rated.values())
        await flow.locks.gates(gate for _, gate in rated.values())
        for one in starts:
            if await session.run("give_permit_back", one.id, one.attempt):
                gate = rated[one.id][1]
                at = one.started_at + period_of(gate)
                await flow.gates.release_key(gate, at, one.started_at)
        await flow.close()

    async def list_workers(self) -> list[Liveness]:
        rows = await self.database.read_one(lambda session: session.rows("list_workers"))
        return [liveness_of(row) for row in rows]
