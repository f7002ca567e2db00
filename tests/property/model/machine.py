"""One machine for every store: the same call to memory and to the store under test, step by step.

Whatever a call answers and whatever can be seen afterwards must be equal. Time moves by a rule,
ids are counted, so that a run depends on nothing but the choices that Hypothesis makes.
"""

import asyncio
from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.property.model import draws
from tests.property.model.pair import Pair
from tickwell.domain.change import delete, edit, pause, resume
from tickwell.domain.execution import PENDING, Claim, OutcomeKind, Start, State
from tickwell.domain.job import Entry
from tickwell.domain.outcome import Outcome, Report, decide
from tickwell.domain.planning import first_cursor, plan
from tickwell.domain.step import Step
from tickwell.ports.records import ClaimRequest, ExecutionFilter, JobFilter, Record
from tickwell.ports.store import Store
from tickwell.ports.transfer import TransferStore
from tickwell.stores.memory import MemoryStore
from tickwell.testing.contract.builders import T0, a_worker

WORKERS = ("w1", "w2", "w3")
WISHES = ("settle", "settle", "request_cancel", "revive", "purge")
#: Runs on a server, where a step makes some sixty round trips; `./run prove` makes more.
BRIEF = 20


class StoreMachine(RuleBasedStateMachine):
    """Subclasses say which store is under test."""

    #: Over all runs: calls made, states seen, outcomes reported.
    calls: Counter[str]
    states: Counter[State]
    outcomes: Counter[OutcomeKind]
    job = staticmethod(draws.job)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.calls, cls.states, cls.outcomes = Counter(), Counter(), Counter()

    def make_store(self):
        """A store that is empty and not open yet; `drop_store` takes away what it leaves behind."""
        raise AssertionError

    def drop_store(self):
        pass

    def __init__(self):
        super().__init__()
        self.runner = asyncio.Runner()
        self.pair = Pair(MemoryStore(lambda: T0), self.make_store(), self.calls)
        self.now = T0
        self.counter = 0
        self.jobs: list[str] = []
        self.claims: list[Claim] = []
        self.requests: list[ClaimRequest] = []
        self.reports: list[Report] = []
        self.beats: Counter[str] = Counter()

    @initialize(
        data=st.data(),
        jobs=st.lists(draws.jobs, min_size=1, max_size=3),
        runs=st.lists(draws.requests, min_size=1, max_size=5),
    )
    def begin(self, data, jobs, runs):
        self.runner.run(self.pair.open())
        self.add([self.job(self.next("job"), self.now, fields) for fields in jobs])
        self.add_executions(data, runs)

    def teardown(self):
        try:
            self.runner.run(self.pair.close(self.now))
        finally:
            self.runner.close()
            self.drop_store()

    def both(self, method, *args, order=None, **options):
        """Call a method of both stores; both must answer the same."""
        return self.runner.run(self.pair.call(method, *args, order=order, **options))

    @invariant()
    def nothing_differs(self):
        self.states.update(self.runner.run(self.pair.compare(self.now)))

    def next(self, word):
        self.counter += 1
        return f"{word}-{self.counter:04}"

    # The planner and the workers

    @rule(millis=draws.waits, horizon=draws.horizons, limit=draws.limits, round_robin=st.booleans())
    def time_passes(self, millis, horizon, limit, round_robin):
        self.now += millis
        now = self.now

        def planner(job, cursor):
            return plan(job, cursor, now, horizon)

        self.both("fire_due", now, horizon, limit, planner, round_robin=round_robin)
        self.both("promote", now, horizon, limit)

    @rule(data=st.data(), worker=st.sampled_from(WORKERS), lead=draws.horizons)
    def work(self, data, worker, lead):
        self.time_passes(data.draw(draws.waits, label="millis"), lead, 100, round_robin=False)
        if data.draw(draws.mostly, label="beats"):
            self.beat(worker)
        self.requests.append(
            ClaimRequest(
                worker=worker,
                claim_id=self.next("claim"),
                now=self.now,
                lead=lead,
                limit=data.draw(st.sampled_from([1, 2, 10]), label="limit"),
                queues=data.draw(draws.queues, label="queues"),
                abilities=data.draw(draws.abilities, label="abilities"),
            )
        )
        claims = self.runner.run(self.pair.claim(self.requests[-1]))
        self.claims += claims
        done = [claim for claim in claims if data.draw(st.booleans(), label="done")]
        self.finish([(claim, data.draw(draws.outcomes, label="outcome")) for claim in done])

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def finish_late(self, data):
        # The newest most often; old ones are stale, or repeat what was reported.
        some = st.sampled_from(self.claims[-4:]) | st.sampled_from(self.claims)
        claims = data.draw(st.lists(some, min_size=1, max_size=4, unique_by=id), label="claims")
        self.finish([(claim, data.draw(draws.outcomes, label="outcome")) for claim in claims])

    def finish(self, ended):
        claims = {(one.id, one.attempt) for one in self.claims[-4:]}
        starts = [Start(*one, self.now) for one in sorted(claims)]
        self.both("record_starts", starts, order=str)
        done = [
            Step(
                execution=id, attempt=attempt, name=name, value=attempt, at=self.now, is_final=final
            )
            for id, attempt in sorted(claims)
            for name, final in (("charge", True), ("", False))
        ]
        self.both("write_steps", done, order=lambda one: (one.execution, one.attempt, one.name))
        for id, _ in sorted(claims)[:1]:
            self.both("answer_step", "default", id, "", "yes", self.now)
        for id, _ in sorted(claims):
            self.both("list_steps", "default", id)
        reports = []
        for claim, told in ended:
            started = told["started_at"] and claim.run_at <= self.now
            outcome = Outcome(**(told | {"started_at": claim.run_at if started else None}))
            if outcome.kind is OutcomeKind.SNOOZED and outcome.delay:
                outcome.awaits = ("",)
            self.outcomes[outcome.kind] += 1
            reports.append(decide(claim, outcome, self.now))
        self.reports = reports or self.reports
        self.report(reports)

    def report(self, reports):
        self.both("finish", reports, self.now, order=lambda one: (one.claim.id, one.claim.attempt))

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def repeat(self, data):
        self.report(self.reports)
        request = data.draw(st.sampled_from(self.requests[-3:]), label="request")
        repeated = replace(request, now=self.now, repeated=True)
        claims = self.both("claim", repeated, order=lambda claim: claim.id)
        known = {(one.id, one.attempt) for one in self.claims}
        self.claims += [claim for claim in claims if (claim.id, claim.attempt) not in known]

    def beat(self, id, *, leaving=False):
        pulse = self.both("beat", a_worker(id), self.now, leaving=leaving)
        self.beats[id] = pulse.beat

    @rule(id=st.sampled_from(WORKERS), leaves=st.booleans(), seen=draws.mostly, limit=draws.limits)
    def worker_goes(self, id, leaves, seen, limit):
        if leaves:
            self.beat(id, leaving=True)
        else:
            self.both("declare_lost", id, self.beats[id] - (not seen), self.now)
        orphans = self.both("orphans", self.now, limit)
        lost = {"kind": OutcomeKind.LOST, "started_at": False}
        self.finish([(claim, lost) for claim in orphans])

    # People

    def add(self, jobs):
        entries = [Entry(job, first_cursor(job, self.now)) for job in jobs]
        added = self.both("add_jobs", entries, self.now)
        if isinstance(added, list):
            self.jobs += [one.job.id for one in added if one.job.id not in self.jobs]

    @precondition(lambda self: len(self.jobs) < 6)
    @rule(data=st.data(), fields=draws.jobs)
    def add_jobs(self, data, fields):
        one = self.job(self.next("job"), self.now, fields)
        known = [self.entry(data).job] if self.jobs else []
        twins = [replace(one, id=self.next("job"), name=job.name) for job in known]
        also = data.draw(st.lists(st.sampled_from([*known, *twins]), max_size=1)) if known else []
        self.add([one, *also])

    def entry(self, data):
        return self.pair.reference.tables.jobs[data.draw(st.sampled_from(self.jobs), label="job")]

    def change(self, entry, changer):
        self.both("change_jobs", entry.job.project, [entry.job.id], changer, self.now)

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), fields=draws.jobs)
    def edit(self, data, fields):
        entry = self.entry(data)
        names = st.sampled_from([entry.job.name, entry.job.name, "renamed"])
        new = self.job(entry.job.id, self.now, fields | {"name": data.draw(names, label="name")})
        expected = data.draw(st.sampled_from([None, entry.job.version, 99]), label="expected")
        self.change(entry, edit(new, expected))

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), wait=st.none() | draws.waits, keeps=draws.mostly)
    def pause_resume_or_delete(self, data, wait, keeps):
        entry = self.entry(data)
        if not keeps:
            self.change(entry, delete())
        elif entry.cursor.pause:
            self.change(entry, resume())
        else:
            self.change(entry, pause("ann", "tired", None if wait is None else self.now + wait))

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), runs=st.lists(draws.requests, min_size=1, max_size=3))
    def add_executions(self, data, runs):
        new = [
            draws.execution(self.next, self.entry(data).job, self.now, run, data) for run in runs
        ]
        self.both("add_executions", new, self.now, data.draw(draws.horizons, label="horizon"))

    def some_ids(self, data, *states):
        rows = self.pair.reference.tables.rows.values()
        ids = sorted(row.execution.id for row in rows if row.execution.state in states)
        some = st.lists(st.sampled_from([*ids[-12:], "nobody"]), min_size=1, max_size=4)
        return data.draw(some, label="ids")

    @rule(data=st.data(), what=st.sampled_from(WISHES))
    def end_or_revive(self, data, what):
        if what == "settle":
            some = st.sets(st.sampled_from(sorted(PENDING)), min_size=1)
            only = data.draw(st.just(PENDING) | some, label="only")
            ids, to = self.some_ids(data, *PENDING, State.RUNNING), data.draw(draws.settled)
            self.both("settle", ids, only, to, "settled", self.now, order=str)
        else:
            states = State if what == "request_cancel" else (State.DEAD, State.QUEUED)
            self.both(what, "default", self.some_ids(data, *states), self.now, order=str)

    # The service, and upkeep

    @rule(data=st.data(), what=st.sampled_from(["records", "jobs", "runs", "prune"]))
    def keep(self, data, what):
        if what == "records":
            self.keep_records(data)
        elif what == "jobs":
            where = JobFilter(**data.draw(draws.job_filters, label="where"))
            self.runner.run(self.pair.pages("list_jobs", where, 2))
            self.both("get_jobs", "default", ["job-0001", "nobody", "renamed", *self.jobs])
        elif what == "runs":
            self.look_at_runs(data)
        else:
            self.both("prune", self.now, 10_000)
            kept = self.pair.reference.tables.jobs
            self.jobs = [id for id in self.jobs if id in kept]

    def keep_records(self, data):
        key, wait = data.draw(draws.keys, label="key"), data.draw(st.none() | draws.waits)
        if data.draw(st.booleans(), label="delete"):
            self.both("delete_record", "note", "default", key)
        document = data.draw(draws.documents, label="document")
        record = Record(kind="note", project="default", key=key, document=document)
        record.expires_at = None if wait is None else self.now + wait
        expected = data.draw(st.sampled_from([None, 0, 1, 2]), label="expected")
        self.both("put_record", record, self.now, expected)
        self.both("put_records", [replace(record, kind="memo")], self.now)
        self.both("get_record", "memo", "default", key, self.now)
        self.both("get_record", "note", "default", key, self.now)
        self.both("list_records", "note", "default", key[:1], self.now, 2)

    def look_at_runs(self, data):
        wait, where = data.draw(draws.waits), data.draw(draws.execution_filters, label="where")
        between = {"since": self.now - wait, "due_before": self.now + wait}
        where = ExecutionFilter(**where, **between)
        self.runner.run(self.pair.pages("list_executions", where, 3))
        self.both("get_execution", "default", "nobody")
        self.both("list_skips", "job-0001", self.now - wait, self.now)
        self.both("next_wakeup", self.now, ["slow"])
        self.both("stats", "default")
        self.both("count_jobs", "default")
        self.both("queue_lengths", self.now, order=lambda one: (one.queue, one.state))
        self.both("lane_lengths", State.QUEUED, 3)
        self.both("lane_lengths", State.PARKED, 3)
        self.both("list_workers")


def thorough(machine, runs, *, brief=True):
    """A test of the machine: the same runs every time, and they get everywhere."""
    test = machine.TestCase
    test.settings = settings(
        max_examples=runs,
        stateful_step_count=30,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run = test.runTest

    def run_and_check(self):
        run(self)
        # Which runs are made depends on what else was imported: few of them may miss a method.
        if not brief:
            check_reach(machine)

    test.runTest = run_and_check
    return test


def check_reach(machine):
    """A machine that never gets somewhere proves nothing about it."""
    methods = {
        name for name in dir(Store) if not name.startswith("_") and callable(getattr(Store, name))
    }
    # What copies a store is used on one that nothing else uses: by the topic `Copying`.
    missed = methods - set(dir(TransferStore)) - set(machine.calls)
    assert missed == set(), f"never called: {sorted(missed)}"
    assert set(State) - set(machine.states) == set()
    missing = set(OutcomeKind) - set(machine.outcomes)
    assert missing == set()
