"""The planner: fires what is due and promotes what waits, ahead of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.event import Cancelled, Events, FiresSkipped, JobUnreadable, Planned, Triggered
from tickwell.domain.execution import Execution, NewExecution, RangeSkip, Reason, State
from tickwell.domain.fairness import Fairness
from tickwell.domain.job import Cursor, Job
from tickwell.domain.planning import Absence, Plan, live_since, plan
from tickwell.engine.liveness.absence import SLACK
from tickwell.engine.planning.backlog_gates import BacklogGates
from tickwell.engine.planning.maintenance import MaintenanceWindows
from tickwell.engine.planning.outage_recovery import OutageRecovery
from tickwell.engine.planning.project_pauses import ProjectPauses
from tickwell.engine.planning.skipped_rows import SkipStore, skipped_at
from tickwell.errors import StoreUnavailable
from tickwell.ports.notifier import PlannerLease
from tickwell.ports.records import Ended, Fired, Promoted, Wakeup
from tickwell.ports.store import QueueStore, RecordStore
from tickwell.ports.tracer import PlanSpan, Tracer
from tickwell.settings import Settings

#: A gate is looked at no more than this long after the instant that decides: waking for each
#: row apart would cost a transaction a row.
GATHER = 0.05


class PlannerStore(QueueStore, RecordStore, SkipStore, Protocol):
    """What the planner needs of a store."""


class Planner:
    """Plans up to the horizon, then rests until a fire time has come well within it."""

    name = "planner"

    def __init__(
        self,
        store: PlannerStore,
        clock: Clock,
        events: Events,
        settings: Settings,
        *,
        wake_worker: Callable[[], None],
        hear: Callable[[], None],
        recall: OutageRecovery,
        prepare: Callable[[Job], None] | None = None,
        planner_lease: PlannerLease | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.events = events
        self.settings = settings
        self.wake_worker = wake_worker
        self.hear = hear
        self.recall = recall
        #: Absences that all jobs have been planned after, and what was live after the last one.
        self.planned_after = 0
        self.live: dict[str, Execution] | None = None
        #: Called with a job of each kind of target that was planned, ahead of its instant.
        self.prepare = prepare
        self.planner_lease = planner_lease
        self.tracer = tracer
        self.horizon = int(settings.horizon * 1000)
        self.fairness = Fairness()
        self.pauses = ProjectPauses(store, clock)
        self.maintenance = MaintenanceWindows(store, clock)
        self.backlogs = BacklogGates(store, clock, settings)
        #: Whether the next step takes of every project: the last one left something over.
        self.round_robin = False
        #: Of the step under way.
        self._span: PlanSpan | None = None

    async def step(self) -> float:
        """Fire, promote, and say how long to rest."""
        if self.tracer is None:
            return await self.recall.attend(self.name, self._step)
        with self.tracer.plan_step() as self._span:
            return await self.recall.attend(self.name, self._step)

    async def _step(self) -> float:
        require_fresh_clock(self.clock, self.settings)
        if self.planner_lease is not None and (rest := await self.planner_lease.rest()):
            return rest
        await self.pauses.look()
        if taken_back := await self.maintenance.look():
            self.events.emit(FiresSkipped(skips=taken_back))
        now, batch, began = self.clock.now(), self.settings.batch, self.clock.monotonic()
        round_robin = self.round_robin
        absences = await self._look_after_absence(now)
        fired = await self._fire(now, batch, round_robin=round_robin)
        self.round_robin = fired.more and not round_robin
        promoted = await self.store.promote(now, self.horizon, batch)
        if fired.executions or promoted.queued:
            self.wake_worker()
        if promoted.blocked:
            self.hear()  # the gate's holder may have been asked to stop
        if (fired.ended or promoted.ended or promoted.skipped) and self.events.wants(FiresSkipped):
            await self._tell_skipped(now)
        moved = promoted.queued or promoted.blocked or promoted.skipped
        if self.events.wanted and (fired.jobs or moved):
            self.events.emit(_planned(fired, promoted, self.clock.monotonic() - began))
            self._tell_cancelled(fired.ended + promoted.ended)
        if fired.more or promoted.more or round_robin:
            return 0.0
        self.backlogs.caught_up()
        wakeup = await self.store.next_wakeup(now)
        self.live = None
        if wakeup.fire is None or wakeup.fire > now:
            # What is still due was locked by another planner, whose transaction may be undone.
            self.planned_after = absences
        for one in wakeup.unreadable:
            self.events.emit(JobUnreadable(job=one.job, why=one.why))
        return self._rest(wakeup)

    async def _tell_skipped(self, now: int) -> None:
        """Executions that met their overlap rule or expired."""
        if skips := await skipped_at(self.store, now):
            self.events.emit(FiresSkipped(skips=skips))

    async def _look_after_absence(self, now: int) -> int:
        """What is live, if jobs may have to be planned after an absence; how many there were."""
        absences = self.recall.presence.answered_for
        if absences != self.planned_after and self.live is None:
            upcoming = (await self.store.next_wakeup(now)).fire
            if upcoming is None or upcoming > now + SLACK:
                return absences  # all that came due was planned
            self.live = await self.recall.under_way()
        return absences

    def _absence(self, job: Job, cursor: Cursor) -> Absence | None:
        if self.live is None:
            # Another process may have recalled fires, whose permit went to a later one: they wait
            # for it. Whether a run was live at their instants is not known here.
            return Absence() if cursor.nudged else None
        run = self.live.get(job.id)
        return Absence(live_since(run, job) if run is not None else None)

    async def _fire(self, now: int, batch: int, *, round_robin: bool) -> Fired:
        near: dict[type, Job] = {}
        seen = _Seen(self.events)

        def planner(job: Job, cursor: Cursor) -> Plan:
            under = self.pauses.of(job.project, now, self.horizon)
            made = plan(
                job,
                cursor,
                now,
                self.horizon,
                self._absence(job, cursor),
                under=under,
                in_maintenance=self.maintenance.of(job),
                gate=self.backlogs.of(job.project),
            )
            made = self.backlogs.admit(job, cursor, made, now)
            if made.executions:
                near[type(job.target)] = job
            seen.note(job, made)
            for new in made.executions:
                new.rank += self.fairness.delay(job.project, now)
            return made

        fired = await self.store.fire_due(
            now, self.horizon, batch, planner, round_robin=round_robin
        )
        await self.backlogs.note()
        for held in self.backlogs.held():
            self.events.emit(held)
        if self.prepare is not None:
            for job in near.values():
                self.prepare(job)
        if self._span is not None and (fired.executions or fired.skipped):
            self._span.fired(fired.executions, fired.skipped, [*seen.triggered])
        seen.tell(fired)
        return fired

    def _tell_cancelled(self, ended: Ended) -> None:
        """Tell of executions that newer ones of their jobs replaced."""
        queues: dict[str, Counter[str]] = {}
        for (state, project, queue), count in ended.items():
            if state is State.CANCELLED:
                queues.setdefault(project, Counter())[queue] += count
        for project, counts in queues.items():
            self.events.emit(Cancelled(project=project, queues=counts))

    def _rest(self, wakeup: Wakeup) -> float:
        """A fire has slack until a part of the horizon is gone, so that fires gather into batches.

        A small one: with jobs at full seconds and a horizon of 2 s, planning begins when the runs
        of a second have ended, and is over when those of the next are claimed. And 10,000 at one
        instant take more than a second to be planned.
        """
        now, rests = self.clock.now(), [self.settings.poll]
        if wakeup.fire is not None:
            rests.append((wakeup.fire - self.horizon * 17 // 20 - now) / 1000)
        if wakeup.promote is not None:
            rests.append(max((wakeup.promote - self.horizon - now) / 1000, GATHER))
        if wakeup.expire is not None:
            rests.append(max((wakeup.expire - now) / 1000, GATHER))
        return max(min(rests), 0.0)


class _Seen:
    """What a step plans, for those who listen; a store may plan a job twice."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.triggered: dict[str, NewExecution] = {}
        self._skipped: dict[tuple[str, int], tuple[Job, RangeSkip]] = {}
        self._wanted, self._wants_skips = events.wanted, events.wants(FiresSkipped)

    def note(self, job: Job, made: Plan) -> None:
        """A job was planned."""
        if self._wanted and made.executions:
            self.triggered.update((new.id, new) for new in made.executions)
        if self._wants_skips and made.skips:
            told = (skip for skip in made.skips if skip.count)
            self._skipped.update(((job.id, skip.first), (job, skip)) for skip in told)

    def tell(self, fired: Fired) -> None:
        """It is recorded."""
        if self.triggered and fired.executions:
            self.events.emit(Triggered(executions=[*self.triggered.values()]))
        if self._skipped and fired.skipped:
            self.events.emit(FiresSkipped(skips=[*self._skipped.values()]))


def _planned(fired: Fired, promoted: Promoted, seconds: float) -> Planned:
    reasons = Counter(fired.reasons)
    reasons[Reason.EXPIRED] += promoted.expired
    for (state, _, _), count in (fired.ended + promoted.ended).items():
        reasons[Reason.OVERLAP] += count if state is State.SKIPPED else 0
    return Planned(
        executions=fired.executions,
        skipped=fired.skipped,
        jobs=fired.jobs,
        promoted=promoted.queued,
        reasons={reason.value: count for reason, count in reasons.items() if count},
        seconds=seconds,
    )


def require_fresh_clock(clock: Clock, settings: Settings) -> None:
    """Planners and reapers judge by the store's time: without a recent sample they stand still."""
    if clock.sample_age() > 3 * settings.beat:
        raise StoreUnavailable(
            "the store's time was last read more than three beats ago; waiting for it to answer"
        )
