"""Engines that break a promise."""

import asyncio
from dataclasses import replace
from hmac import new
from types import SimpleNamespace

from tickwell.declared import start_runs
from tickwell.declared.internals import internals
from tickwell.domain import change as changes
from tickwell.domain import outcome as outcomes
from tickwell.domain import planning
from tickwell.domain.execution import PENDING, Claim, Execution, OutcomeKind, State
from tickwell.domain.maintenance import Closed
from tickwell.domain.planning import plan as sound_plan
from tickwell.domain.policy import HOUR
from tickwell.domain.project_pause import covering
from tickwell.domain.worker import Liveness
from tickwell.engine.claiming.lane import Lane
from tickwell.engine.claiming.ranked_queue import RankedQueue
from tickwell.engine.claiming.running_permits import RunningPermits
from tickwell.engine.claiming.worker import Worker
from tickwell.engine.engine import Engine
from tickwell.engine.hints.hint_worker import HintInbox
from tickwell.engine.liveness import housekeeping, reaper
from tickwell.engine.liveness.pulse import Pulse, PulseThread
from tickwell.engine.liveness.reaper import Reaper
from tickwell.engine.loop import LONGEST_REST, Loop
from tickwell.engine.planning import maintenance, project_pauses
from tickwell.engine.planning.backlog_gates import BacklogGates
from tickwell.engine.planning.outage_recovery import OutageRecovery
from tickwell.engine.planning.project_pauses import ProjectPauses
from tickwell.engine.running.deadlines import Deadlines
from tickwell.engine.running.reporter import Reporter
from tickwell.engine.running.runner import Runner
from tickwell.errors import StoreError
from tickwell.executors.celery import executor
from tickwell.executors.celery.executor import CeleryExecutor
from tickwell.executors.condition import AskedConditions
from tickwell.executors.notes import StoreNotes
from tickwell.executors.step_writer import StepWriter
from tickwell.services import cursor_seal
from tickwell.services.alerts import missing
from tickwell.services.jobs.jobs import Jobs


def recovery_at_start_only(patches):
    """A process recovers what was lost when it starts, and never again."""
    sound = Reaper.step

    async def step(self):
        if not hasattr(self, "done"):
            await sound(self)
            self.done = True
        return self.settings.sweep

    patches.setattr(Reaper, "step", step)


def planners_unaware_of_paused_projects(patches):
    """Planners plan what was added to a paused project as if it were not."""
    patches.setattr(ProjectPauses, "of", lambda *_: None)


def windows_take_nothing_back(patches):
    """A maintenance window holds only for what is planned after it was heard of."""

    async def take_back(*_):
        return []

    patches.setattr(maintenance, "take_back", take_back)


def windows_with_their_end(patches):
    """A fire time at the very end of a maintenance window is skipped with it."""
    patches.setattr(
        Closed, "_is_in", lambda _, window, at: window.is_on(at) or window.is_on(at - 1)
    )


def missing_while_in_maintenance(patches):
    """The time until a job is missing goes on although a window covers all its fire times."""
    patches.setattr(missing, "expected_since", lambda _windows, _trigger, since, *_: since)


def resumptions_heard_of_late(patches):
    """A planner goes by pauses that it read a second ago, and holds what is resumed."""

    async def look(self):
        if self.clock.monotonic() - self._looked_at >= project_pauses.LOOK:
            self._known = await project_pauses.read_pauses(self.store, self.clock.now())
            self._looked_at = self.clock.monotonic()

    patches.setattr(ProjectPauses, "look", look)


def pauses_never_completed(patches):
    """What a process that died had begun of a project's pause or its end stays as it is."""

    async def complete(*_):
        return None

    patches.setattr(housekeeping, "complete", complete)


def held_jobs_forgotten(patches):
    """A job that a planner paused with its project, and too late, is never looked at again."""
    sound = planning._held

    def held(cursor, under, end):
        return replace(sound(cursor, under, end), next_fire_time=under.until)

    patches.setattr(planning, "_held", held)


def finished_jobs_left_out_of_pauses(patches):
    """Only jobs that have fires to come are paused with their project."""

    async def nothing(*_):
        for _ in ():
            yield []

    patches.setattr(project_pauses, "_with_work", nothing)


def pauses_released_ahead(patches):
    """A planner goes by the pause that ends first, and releases what the other one holds."""

    def of(self, project, now, _horizon):
        return covering(self._known, project, now)

    patches.setattr(ProjectPauses, "of", of)


def pauses_without_a_note(patches):
    """A pause does not note what it goes back over: the range after it counts that as well."""
    sound = changes._pausing

    def pausing(*args):
        made = sound(*args)
        made.skips = [skip for skip in made.skips if skip.count]
        return made

    patches.setattr(changes, "_pausing", pausing)


def boots_forgotten(patches):
    """That a boot has had its run is known by the run alone, which retention deletes."""
    patches.setattr(start_runs, "_REMEMBERED", 0)


def permits_of_others_taken(patches):
    """A worker counts its own running attempts only, as if all others were gone."""

    async def none(_self, _project, _others):
        return {}

    patches.setattr(RunningPermits, "_living", none)


def conditions_asked_again(patches):
    """A condition is asked before every attempt, whether one has begun the work or not."""

    async def may_have_started(self, claim):
        return False

    patches.setattr(AskedConditions, "_may_have_started", may_have_started)


def skips_forgotten_once_planned(patches):
    """A plan that passes a skipped occurrence forgets that it was skipped."""

    def still_skipped(job, cursor, now):
        end = cursor.next_fire_time or now
        return tuple(fire for fire in cursor.skipped if fire > max(end, now + HOUR))

    patches.setattr(planning, "_still_skipped", still_skipped)


def next_from_now(patches):
    """The next fire time is computed from now, not from the one before."""

    def plan(job, cursor, now, horizon, absence=None):
        planned = sound_plan(job, cursor, now, horizon, absence)
        moved = planned.cursor
        if moved.next_fire_time is not None and not job.trigger.follows_finish:
            moved = replace(moved, next_fire_time=job.trigger.after(now + horizon))
        return replace(planned, cursor=moved, executions=planned.executions[:1], skips=[])

    patches.setattr("tickwell.engine.planning.planner.plan", plan)


def loss_by_age(patches):
    """A worker is lost when the time of its last beat is long ago by the clock."""

    def silent(self, workers):
        oldest = self.clock.now() - self.settings.lease * 1000
        return [one for one in workers if not one.lost and one.seen_at < oldest]

    patches.setattr(Reaper, "_silent", silent)


def never_held(patches):
    """What is claimed ahead of its instant starts at once."""

    def hold(self, attempt):
        attempt.lane.ready.append(attempt)

    patches.setattr(Runner, "_hold", hold)


def given_back_as_due(patches):
    """What is given back before its instant may start at once elsewhere."""

    def settle(report, outcome, now):
        sound(report, outcome, now)
        if outcome.kind is OutcomeKind.RELEASED and report.state is State.WAITING:
            report.run_at = now

    sound = outcomes._settle
    patches.setattr(outcomes, "_settle", settle)


def always_trusted(patches):
    """A worker starts things whether or not its lease still holds."""
    for_ever = property(lambda self: float("inf"), lambda self, instant: None)
    patches.setattr(Runner, "_trusted_until", for_ever, raising=False)


def reports_dropped(patches):
    """A report that the store did not take is forgotten."""
    sound = Reporter.step

    async def step(self):
        try:
            return await sound(self)
        except StoreError:
            self._in_flight = []
            raise

    patches.setattr(Reporter, "step", step)


def claims_taken_twice(patches):
    """A claim that two beats found is handed over again when the request is repeated."""
    patches.setattr(Worker, "_ask", lambda self, request: self.store.claim(request))
    patches.setattr(
        Worker, "_forget_request", lambda self, claim_id: self._lost_claims.discard(claim_id)
    )


def outage_counts(patches):
    """The time in which the store answered nobody counts as silence, and some rest longer."""
    sound, sound_init = Reaper._silent, Pulse.__init__

    async def step(self):
        return await self._round()

    def init(self, *args):
        sound_init(self, *args)
        self.longest_rest = LONGEST_REST

    def silent(self, workers):
        self._last_look = self.clock.monotonic()
        return sound(self, workers)

    patches.setattr(Reaper, "step", step)
    patches.setattr(Reaper, "_silent", silent)
    patches.setattr(Pulse, "__init__", init)


def lost_wake_up(patches):
    """The wake-up is cleared after the step, with what came during it."""
    sound = Loop._step

    async def step(self):
        rest = await sound(self)
        if not self._stopped.is_set():
            self.wake.clear()
        return rest

    patches.setattr(Loop, "_step", step)


def cancelled_never_abandoned(patches):
    """Only an attempt that timed out is ended at its hard timeout."""
    sound = Deadlines._expire

    def expire(self, attempt):
        sound(self, attempt)
        if attempt.stop is not OutcomeKind.TIMED_OUT:
            attempt.expired = False

    patches.setattr(Deadlines, "_expire", expire)


def drain_keeps(patches):
    """Claims that have not started stay with the worker that goes away."""

    def release_waiting(self):
        self.draining = True

    patches.setattr(Worker, "release_waiting", release_waiting)


def busy_lanes_claim(patches):
    """A lane counts what is in hand, and not the slots that never come free."""
    patches.setattr(
        Lane, "abandoned", property(lambda self: 0, lambda self, count: None), raising=False
    )


def pulse_outlives_start(patches):
    """A start that is cancelled forgets the thread that it has begun."""
    patches.setattr(PulseThread, "has_begun", property(lambda self: False))


def every_process_serves(patches):
    """A process without the worker role announces the queues of its settings."""
    identity = Engine._identity

    def announced(self):
        return replace(identity(self), queues=self.settings.queues, capacity=1)

    patches.setattr(Engine, "_identity", announced)


def silence_is_life(patches):
    """A process is alive until another one declares it lost; after the last, none does."""
    patches.setattr(Liveness, "is_alive", lambda self, now: not self.lost)


def runs_beside_itself(patches):
    """What counts from the end of a run may overlap with it."""
    patches.setattr(planning, "_overlap", lambda job: job.overlap)


def no_recall(patches):
    """What was planned ahead runs after an absence, however late."""

    async def look(self):
        if self.presence.away is not None:
            self.presence.answered(self.presence.away)
        return True

    patches.setattr(OutageRecovery, "look", look)


def recall_before_reports(patches):
    """After an outage fires are planned while attempts that ended in it are still to be written."""

    async def _ends_are_written(self, away):
        return True

    patches.setattr(OutageRecovery, "_ends_are_written", _ends_are_written)


def unheard_believed(patches):
    """After an outage a run is taken for live although its worker has not come back yet."""
    patches.setattr(OutageRecovery, "_is_back", lambda self, one: not one.lost)


def recall_without_return(patches):
    """What is recalled is skipped, and the cursor stays where it is."""

    def recall(fire_times):
        def change(entry, now):
            made = sound(fire_times)(entry, now)
            return made and replace(made, cursor=entry.cursor)

        return change

    sound = changes.recall
    patches.setattr("tickwell.engine.planning.outage_recovery.recall", recall)


def recalled_though_tried(patches):
    """Whatever waits is recalled, retries of what has run among it."""
    patches.setattr(Execution, "is_untried", property(lambda self: self.state in PENDING))


def message_trusted(patches):
    """What a message names is run, whoever holds the claim."""

    async def claim(self, lane, abilities, limit, ids=None):
        found = [await self.store.get_execution("default", id) for id in ids or ()]
        known = [one for one in found if one is not None]
        jobs = {
            one.id: (await self.store.get_jobs("default", [one.job_id]))[0].job for one in known
        }
        return [
            Claim(
                id=one.id,
                job=jobs[one.id],
                kind=one.kind,
                attempt=one.attempt + 1,
                charged=1,
                lost=0,
                returned=0,
                fire_time=one.fire_time,
                run_at=one.run_at,
                payload=one.payload,
                deadline=one.run_at + HOUR,
                worker=self.id,
                claim_id="",
            )
            for one in known
        ]

    patches.setattr(Worker, "_claim", claim)


def acknowledged_first(patches):
    """A message is done with as soon as it is handed over."""
    sound = HintInbox.add

    def add(self, id, caller):
        sound(self, id, SimpleNamespace(call=caller.call, release=lambda: None))
        caller.release()

    patches.setattr(HintInbox, "add", add)


def more_than_callers(patches):
    """A hint opens all seats of its process, also those without a caller."""
    sound = HintInbox.admit

    def admit(self, now):
        sound(self, now)
        if self.seats:
            self.lane.capacity = max(self.lane.capacity, 10)

    patches.setattr(HintInbox, "admit", admit)


def callers_kept(patches):
    """A caller goes on for as long as something is due."""
    patches.setattr("tickwell.engine.hints.hint_worker.LONGEST", float("inf"))


def lost_claims_kept(patches):
    """A worker that shuts down does not ask again for claims whose reply was lost."""

    async def give_back(self):
        pass

    patches.setattr(Worker, "_give_back_lost_claims", give_back)


def task_sent_again(patches):
    """An attempt sends its Celery task without a look for the one that was sent before."""

    async def known(self, poller, claim, message):
        return None

    patches.setattr(CeleryExecutor, "_known", known)


def jobs_per_beat(patches):
    """Every Celery beat has a store of its own instead of the app's."""
    # Here: Celery takes a while to import, and no other variant needs it.
    from tickwell.celery import beat

    sound = beat.make_engine

    def make_engine(app, entries):
        engine = sound(app, entries)
        internals(engine).move_to("memory://")
        return engine

    patches.setattr(beat, "make_engine", make_engine)


def any_task(patches):
    """A worker sends every Celery task, whatever the rules of its settings say."""
    patches.setattr(executor, "why_forbidden", lambda rules, project, task: "")


def losses_without_start(patches):
    """The reaper reports a lost attempt as one that nobody saw starting."""
    sound = reaper._lost

    def lost(claim, now, *, in_crowd):
        return replace(sound(claim, now, in_crowd=in_crowd), started_at=None)

    patches.setattr(reaper, "_lost", lost)


def steps_not_waited_for(patches):
    """A handler goes on before what it has done is in the store."""

    async def write(self, step):
        self._left = getattr(self, "_left", [])
        self._left.append(asyncio.create_task(self.store.write_steps([step])))

    patches.setattr(StepWriter, "write", write)


def steps_forgotten(patches):
    """Every attempt begins with nothing done."""

    async def read_steps(self, claim):
        return []

    patches.setattr(StoreNotes, "read_steps", read_steps)


def calendars_read_once(patches):
    """A job that is saved is not compared again with the calendars that it names."""

    async def latest(_self, entry):
        return entry

    patches.setattr(Jobs, "_latest", latest)


def addresses_unproven(patches):
    """Whoever knows how an address is made answers any question."""
    patches.setattr(cursor_seal, "hmac", SimpleNamespace(compare_digest=lambda *_: True, new=new))


def waits_charged(patches):
    """A question whose answer takes days uses up the attempts."""
    sound = outcomes._counts

    def counts(claim, outcome):
        return sound(claim, replace(outcome, awaits=()))

    patches.setattr(outcomes, "_counts", counts)


def hand_first_in_first_out(patches):
    """What was claimed first starts first, however urgent what follows is."""
    patches.setattr(RankedQueue, "join", lambda self, attempts: self.extend(attempts))


def held_fires_forgotten_by_edits(patches):
    """An edit makes a job forget the missed fires that it holds."""
    patches.setattr(changes, "_still_holding", lambda cursor, _: cursor)


def held_fires_without_a_note(patches):
    """A planner holds fires first, and then notes that it does."""
    patches.setattr(BacklogGates, "_is_noted", lambda *_: True)


def held_fires_never_looked_at(patches):
    """A job that holds fires is not looked at when the configured answer applies."""
    patches.setattr(planning, "look_at_backlog", lambda cursor: cursor)
