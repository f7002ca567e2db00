"""PostgreSQL stores that break a promise."""

import asyncio
from dataclasses import replace
from random import Random

from tickwell.domain.rate import is_rate
from tickwell.engine.liveness.pulse import Pulse
from tickwell.ids import new_id
from tickwell.stores.postgres import database
from tickwell.stores.postgres.parts import PostgresQueue
from tickwell.stores.postgres.session import statements
from tickwell.stores.sql.flow import finishing
from tickwell.stores.sql.flow.adding import Adding
from tickwell.stores.sql.flow.firing import Firing
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.flow.locks import Locks
from tickwell.stores.sql.flow.recording import Recorder
from tickwell.stores.sql.flow.same_runs import SameRuns
from tickwell.stores.sql.rows.running_row import RunningRow

#: The schemas of whatever hunts them.
SCHEMAS = ("variants", "statements", "stores")


def rewrite(patches, name, old, new):
    """Replace a part of a statement."""
    for schema in SCHEMAS:
        sql = statements(schema)
        assert old in sql[name], f"{name} has no {old!r}"
        patches.setitem(sql, name, sql[name].replace(old, new))


def rate_read_before_lock(patches):
    """Which permits were used is read before the gate is locked, and by now somebody used more."""
    sound = Locks.gates

    async def gates(self, names):
        names = [name for name in names if name is not None]
        missing = sorted({name for name in names if is_rate(name)} - self.held.keys())
        await self._read_rates(missing)
        known = {name: [*self.free[name]] for name in missing}
        # On an idle machine the two sides rarely met here: one run of the suite missed it.
        await asyncio.sleep(0.02)
        await sound(self, names)
        self.free |= known
        self._found_free |= {name: [] for name in missing}

    patches.setattr(Locks, "gates", gates)


def same_run_read_before_lock(patches):
    """Which runs are there is read before the job is locked, and by now somebody made another."""
    add, read, early = Adding.add, SameRuns._runs, {}

    async def looking_first(self, new, *, careful):
        runs = SameRuns(self.flow, self.now, self.horizon)
        early[self.session] = {one.id: await read(runs, one.job.id, one.unique) for one in new}
        return await add(self, new, careful=careful)

    async def answer(self, new):
        same = new.unique.answer(early[self.session][new.id], self.now)
        if same is None:
            self.fresh[new.id] = new
        return new.id if same is None else same.id

    patches.setattr(Adding, "add", looking_first)
    patches.setattr(SameRuns, "_answer", answer)


def move_before_record(patches):
    """The cursor is moved by one transaction, and what it passed is recorded by another."""
    moved, recorded = Firing._moved, Recorder.quickly

    async def quickly(self, batches, **options):
        firing = getattr(self.flow, "firing", None)
        if firing is not None:
            rows = [moved(firing, one, one.batch()) for one in firing.planned]
            await self.session.many("move_cursor", rows)
            await self.session.connection.execute("COMMIT")
            await self.session.connection.execute("BEGIN")
        await recorded(self, batches, **options)

    sound = Firing._plan

    def plan(self, rows, jobs, plan):
        self.planned = sound(self, rows, jobs, plan)
        self.flow.firing = self
        return self.planned

    patches.setattr(Firing, "_plan", plan)
    patches.setattr(Recorder, "quickly", quickly)


def steps_without_lock(patches):
    """A step is written by what was seen before its attempt ended."""
    rewrite(patches, "write_steps", "FOR KEY SHARE OF running", "")


def answers_unheeded(patches):
    """What comes while an attempt ends is slept over."""

    async def answered(self, reports):
        return set()

    patches.setattr(finishing.Finishing, "_answered", answered)


def no_fence(patches):
    """Whoever reports an attempt of a running execution is believed."""

    class Any(int):
        __hash__ = int.__hash__

        def __eq__(self, other):
            return True

    rewrite(patches, "finish", "AND running.attempt = report.attempt", "")
    own = "(SELECT attempts FROM given)[width_bucket(id, (SELECT ids FROM given))]"
    rewrite(patches, "finish_quickly", f"AND attempt = {own}", "")
    patches.setattr(
        finishing, "RunningRow", lambda *row: RunningRow(*row)._replace(attempt=Any(row[2]))
    )


def attempt_given_back(patches):
    """An attempt that another one follows frees its number."""
    sound = RunningRow.again_row

    def again_row(self, *args):
        return sound(self._replace(attempt=self.attempt - 1), *args)

    patches.setattr(RunningRow, "again_row", again_row)


def claim_without_lock(patches):
    """Claimers read the same rows; that one of them wrote first is nothing to the other."""
    locks = {
        "claim_lanes": "FOR UPDATE SKIP LOCKED",
        "claim_ids": "FOR UPDATE OF queue SKIP LOCKED",
    }
    for name, lock in locks.items():
        rewrite(patches, name, lock, "")
        rewrite(patches, name, "FROM taken\n)", "FROM taken ON CONFLICT (id) DO NOTHING\n)")


def counted_without_lock(patches):
    """Places in a gate are counted and taken, and others may do so in between."""
    rewrite(patches, "lock_gates", "ORDER BY name FOR UPDATE", "AND pg_sleep(0.01) IS NOT NULL")


def lock_only(patches):
    """Ids are random, and planners read what others have locked."""
    random = Random(1)
    rewrite(patches, "due", "FOR NO KEY UPDATE SKIP LOCKED", "")
    patches.setattr("tickwell.domain.planning.execution_id", lambda _, at: new_id(at, random))


def overlap_ahead(patches):
    """What is planned ahead is skipped as soon as its gate is found busy."""
    sound = Flow.admit

    async def admit(self, row, now, horizon):
        await sound(
            self, row, max(now, row.run_at) if row.run_at <= now + horizon else now, horizon
        )

    patches.setattr(Flow, "admit", admit)
    patches.setattr("tickwell.stores.sql.flow.recording.row_states", lambda *_, **__: None)


def forgets_who_asked(patches):
    """A repeated claim is taken for a new one, so what the lost answer held is never found."""
    sound = PostgresQueue.claim

    async def claim(self, request):
        return await sound(self, replace(request, repeated=False))

    patches.setattr(PostgresQueue, "claim", claim)


def endless_beat(patches):
    """A beat waits for its answer as long as the driver does."""
    sound = Pulse.__init__

    def init(self, *args):
        sound(self, *args)
        self.patience = 3600.0

    patches.setattr(Pulse, "__init__", init)


def lazy_commits(patches):
    """A server that is set not to wait for its disk does not wait for ours either."""
    patches.setattr(database, "_DURABLE", "SELECT {local}")
