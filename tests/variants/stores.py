"""Stores that break a promise."""

import asyncio
from dataclasses import replace
from random import Random

from tickwell.domain import rate
from tickwell.domain.change import leave_out as sound_leave_out
from tickwell.domain.coverage import uncovered
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.job import Entry
from tickwell.domain.unique import Unique
from tickwell.engine.planning.planner import Planner
from tickwell.ids import new_id
from tickwell.ports.records import Fired
from tickwell.stores.memory import MemoryStore, catalog, flow, reports
from tickwell.stores.memory.firing import MemoryFiring
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.liveness import MemoryLiveness
from tickwell.stores.memory.queue import MemoryQueue
from tickwell.stores.memory.reports import MemoryReports
from tickwell.stores.memory.steps import MemorySteps
from tickwell.stores.memory.transfer import MemoryTransfer


def move_before_record(patches):
    """The cursor is moved by one write, and what it passed is recorded by another."""
    sound_init, recorded = Planner.__init__, MemoryFiring._fire

    async def move(self, now, horizon, limit, plan):
        made = [(e.job, plan(e.job, e.cursor)) for e in self.firing._due_jobs(now + horizon, limit)]
        for job, planned in made:
            self.tables.put_entry(Entry(job, planned.cursor))
        return made

    async def record(self, made, now, horizon):
        fired = Fired()
        for job, planned in made:
            latest = self.tables.jobs[job.id].cursor
            recorded(self.firing, job, replace(planned, cursor=latest), fired, now, horizon)
        return fired

    class TwoWrites:
        def __init__(self, store):
            self.store = store

        def __getattr__(self, name):
            return getattr(self.store, name)

        async def fire_due(self, now, horizon, limit, plan, **_):
            made = await self.store.move_due(now, horizon, limit, plan)
            return await self.store.record_due(made, now, horizon)

    def init(self, store, *args, **options):
        sound_init(self, TwoWrites(store), *args, **options)

    patches.setattr(MemoryStore, "move_due", move, raising=False)
    patches.setattr(MemoryStore, "record_due", record, raising=False)
    patches.setattr(Planner, "__init__", init)


def no_fence(patches):
    """Whoever reports an attempt of a running execution is believed."""
    patches.setattr(reports, "_stands", lambda row, _: row.execution.state is State.RUNNING)


def starts_unfenced(patches):
    """The start of an attempt is written whichever attempt runs."""

    async def record_starts(self, starts):
        for one in starts:
            self.tables.rows[one.id].execution.started_at = one.started_at
        return [one.id for one in starts]

    patches.setattr(MemoryLiveness, "record_starts", record_starts)


def permits_lost_with_workers(patches):
    """What was lost with its worker ends, and keeps its job's gate."""
    sound = Flow._release_job

    def release_job(self, row, now):
        attempts = row.execution.attempts
        if not (attempts and attempts[-1].outcome is OutcomeKind.LOST):
            sound(self, row, now)

    patches.setattr(Flow, "_release_job", release_job)


def jobs_not_left_out(patches):
    """A worker is handed what it said that it may not run."""
    sound = MemoryQueue._claimable

    def claimable(self, request):
        return sound(self, replace(request, left_out=()))

    patches.setattr(MemoryQueue, "_claimable", claimable)


def steps_unfenced(patches):
    """Whoever ran an execution once may add to what it has done."""
    patches.setattr(MemorySteps, "_is_under_way", lambda self, step: True)


def answers_unheeded(patches):
    """What comes while an attempt ends is slept over."""
    patches.setattr(MemoryReports, "_is_answered", lambda self, report: False)


def answers_in_haste(patches):
    """An answer ends the delay of a retry, too."""
    patches.setattr(
        MemorySteps,
        "_waits_for",
        lambda self, execution, step: (
            execution.state is State.WAITING and execution.attempt == step.attempt
        ),
    )


def answers_replaced(patches):
    """The last answer counts, whatever was done by the first."""
    sound = MemorySteps.answer_step

    async def answer_step(self, project, id, name, *answer):
        steps = self.tables.steps.get(id, {})
        if name in steps:
            self.tables.steps[id] = steps | {name: replace(steps[name], is_final=False)}
        return await sound(self, project, id, name, *answer)

    patches.setattr(MemorySteps, "answer_step", answer_step)


def attempt_given_back(patches):
    """A released attempt frees its number for the next one."""
    sound = MemoryReports._apply

    def apply(self, row, report, now):
        sound(self, row, report, now)
        if report.outcome is OutcomeKind.RELEASED:
            row.execution.attempt -= 1

    patches.setattr(MemoryReports, "_apply", apply)


def limit_counted_at_claim(patches):
    """No permits: a claim counts what runs, and then takes what seems to be allowed."""
    sound = MemoryStore.claim

    def through(self, row, until):
        self.tables.move(row, State.QUEUED)

    async def claim(self, request):
        full = self.full_gates()
        await asyncio.sleep(0.002)
        rows = self.tables.rows.values()
        held = {id for id, row in self.tables.rows.items() if row.gate in full}
        ids = tuple(row.execution.id for row in rows if row.execution.id not in held)
        return await sound(self, request if request.repeated else replace(request, ids=ids))

    def full_gates(self):
        counts = dict[str, list[int]]()
        for row in self.claims.running():
            if row.gate is not None:
                counts.setdefault(row.gate, []).append(row.limit)
        return {gate for gate, limits in counts.items() if len(limits) >= min(limits)}

    patches.setattr(Flow, "_through_key_gate", through)
    patches.setattr(MemoryStore, "claim", claim)
    patches.setattr(MemoryStore, "full_gates", full_gates, raising=False)


def rate_by_admission(patches):
    """A permit can be had again a period after it was given, however late it was used."""
    patches.setattr(
        reports, "permit_back_at", lambda gate, run_at, *_: run_at + rate.period_of(gate)
    )


def rate_by_one_clock(patches):
    """What is past by the clock of one process is forgotten at once."""
    patches.setattr(rate, "CLOCKS_APART", 0)


def rate_of_lost_unused(patches):
    """An attempt that was lost counts as one that never started."""

    def back_at(gate, run_at, started_at, _):
        return rate.permit_back_at(gate, run_at, started_at, None)

    patches.setattr(reports, "permit_back_at", back_at)


def debounce_without_a_maximum(patches):
    """Each request puts the run off, however long ago the first one was."""
    patches.setattr(Unique, "due", lambda _self, run_at, _requested_at: run_at)


def debounce_keeps_its_permits(patches):
    """A run that is put off stays where it is in its gates."""

    def replace_in_place(self, row, new, now, horizon):
        execution = row.execution
        execution.payload = new.payload
        execution.run_at = new.put_off(execution.created_at).run_at
        self.tables.move(row, execution.state, row.waits)

    patches.setattr(Flow, "replace", replace_in_place)


def ended_runs_count(patches):
    """A request finds every run that there ever was, whatever its rule says."""
    patches.setattr(Unique, "_is_answer", lambda *_: True)


def rate_without_a_line(patches):
    """Who comes when a permit can be had takes it, whoever waits."""
    sound = Flow._through_key_gate

    def through(self, row, until):
        if rate.is_rate(row.gate) and not row.holds_key:
            held = len(self.tables.key_gate.get(row.gate, ()))
            at = rate.permit_from(held, self.tables.key_free.get(row.gate, []), row.limit)
            if at is not None and at <= until:
                self._enter(row, at)
                return
        sound(self, row, until)

    patches.setattr(Flow, "_through_key_gate", through)


def lock_only(patches):
    """Ids are random; a lock that expires is all that keeps two planners apart."""
    random, locked = Random(1), {"until": 0.0}

    async def fire_due(self, now, horizon, limit, plan, **_):
        loop, fired = asyncio.get_running_loop(), Fired()
        if 0 < locked["until"] - loop.time() < 0.05:
            return fired
        locked["until"] = loop.time() + 0.05
        made = [(e.job, plan(e.job, e.cursor)) for e in self.firing._due_jobs(now + horizon, limit)]
        await asyncio.sleep(random.choice((0.0, 0.01, 0.2)))
        for job, planned in made:
            self.firing._fire(job, planned, fired, now, horizon)
        return fired

    def random_id(_, fire_time):
        return new_id(fire_time, random)

    patches.setattr("tickwell.domain.planning.execution_id", random_id)
    patches.setattr(MemoryStore, "fire_due", fire_due)


def overlap_ahead(patches):
    """What is planned ahead is skipped as soon as its gate is found busy."""
    sound = Flow.admit

    def admit(self, row, now, horizon):
        within = now < row.execution.run_at <= now + horizon
        if within and not self._take_job_permit(row):
            self._overlapped(row, now)
        else:
            sound(self, row, now, horizon)

    patches.setattr(flow.Flow, "admit", admit)


def one_plan_stops_all(patches):
    """A plan that fails is raised, with the jobs behind it not yet fired."""
    sound = MemoryStore.fire_due

    async def fire_due(self, now, horizon, limit, plan, **how):
        failed: list = []

        def watched(job, cursor):
            if failed:
                raise failed[0]
            try:
                return plan(job, cursor)
            except Exception as error:
                failed.append(error)
                raise

        fired = await sound(self, now, horizon, limit, watched, **how)
        if failed:
            raise failed[0]
        return fired

    patches.setattr(MemoryStore, "fire_due", fire_due)


def recalled_again(patches):
    """A recall takes back what another one did, and the policy has armed again since."""
    patches.setattr(catalog, "leave_out", lambda *_: True)


def recalls_taken_whole(patches):
    """What a recall notes is not divided where another one has been."""

    def whole(job, skip, known):
        left = uncovered(job, skip, known)
        return [replace(skip, first=left[0].first, last=left[-1].last)] if left else []

    patches.setattr(flow, "uncovered", whole)


def recall_uncounted(patches):
    """A recall does not note what it goes back over: ranges count it a second time."""

    def leave_out(made, noted):
        is_new = sound_leave_out(made, noted)
        noted[:] = [skip for skip in noted if skip.count]
        return is_new

    patches.setattr(catalog, "leave_out", leave_out)


def copies_counted_twice(patches):
    """What is restored again, after a kill, replaces what is there."""

    async def restore_executions(self, kept):
        for one in kept:
            self._restore(one)

    patches.setattr(MemoryTransfer, "restore_executions", restore_executions)


def copies_without_gates(patches):
    """The permits of jobs' own gates are not restored: two executions run at once."""
    sound = MemoryTransfer._restore

    def restore(self, kept):
        sound(self, replace(kept, holds_job=False))

    patches.setattr(MemoryTransfer, "_restore", restore)
