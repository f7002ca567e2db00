"""A project with alerts: jobs, a channel that is sent them, and evaluators in virtual time."""

import random
from dataclasses import dataclass, field, replace
from typing import Any

from tests.services.conftest import WORKER, Clock, World
from tickwell.domain.alert import Channel, ChannelKind, Condition, Rule
from tickwell.domain.event import AttemptsFinished
from tickwell.domain.execution import OutcomeKind, Start
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import MINUTE, Retry
from tickwell.domain.tally import MINUTES, Tally, queues_document
from tickwell.domain.trigger import OnDemand
from tickwell.ids import new_id
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.services.alerts.book import CHANNEL, HISTORY, RULE, Silence, begin
from tickwell.services.alerts.book import SILENCE as SILENCE_KIND
from tickwell.services.alerts.evaluator import Evaluator
from tickwell.services.health import HealthReader

PROJECT = "default"
#: A process that beats so rarely that it is alive all through a test.
ALIVE = replace(WORKER, id="all", roles=("planner", "worker"), beat_every=10**9)
GONE_AFTER = 3 * ALIVE.beat_every


@dataclass
class Watch(World):
    """`World` with alerts. One look is 15 seconds after the one before."""

    store: Any
    clock: Any = field(default_factory=Clock)

    def __post_init__(self):
        super().__post_init__()
        self.clock.monotonic = lambda: self.clock.instant / 1000
        self.random = random.Random(3)
        self.store.ping = self.ping
        self.evaluator = self.another()

    def another(self, store=None):
        """The evaluator of another process."""
        store = store or self.store
        return Evaluator(
            store,
            self.clock,
            self.executions_on(store),
            HealthReader(store, self.clock),
            self.random,
            public_url="https://jobs.example.com",
        )

    def executions_on(self, store):
        made = type(self.executions)(store, self.clock, self.random, self.wake)
        made.check = self.executions.check
        return made

    async def ping(self):
        """The store's time, which the test moves."""
        return self.clock.instant

    async def rule(self, condition, job=None, **fields):
        now = self.clock.instant
        made = Rule(
            id=new_id(now, self.random),
            condition=Condition(condition),
            job=None if job is None else job.id,
            created_at=now,
            **fields,
        )
        made.check()
        await self.store.put_record(
            Record(kind=RULE, project=PROJECT, key=made.id, document=made.to_document()), now
        )
        await begin(self.store, PROJECT, now)
        return made

    async def silence(self, until, rule=None, job=None):
        made = Silence(id="s", rule=rule, job=job, until=until, why="moving", by="ada")
        record = Record(
            kind=SILENCE_KIND,
            project=PROJECT,
            key=made.id,
            document=made.to_document(),
            expires_at=until,
        )
        await self.store.put_record(record, self.clock.instant)

    async def channel(self, kind=ChannelKind.WEBHOOK, *, job=None, **filters):
        """One that is sent alerts; the id of its job."""
        now = self.clock.instant
        id = new_id(now, self.random)
        await self.jobs.add(
            Job(
                id=id,
                name=f"channel-{id}",
                trigger=OnDemand(),
                target=Http("https://example.com/told"),
            )
        )
        made = Channel(
            id=id,
            name=id,
            kind=kind,
            to="https://example.com/told",
            job=None if job is None else job.id,
            **filters,
        )
        record = Record(kind=CHANNEL, project=PROJECT, key=id, document=made.to_document())
        await self.store.put_record(record, now)
        await begin(self.store, PROJECT, now)
        return id

    async def add(self, name, trigger=None, **fields):
        fields = {"retry": Retry(max_attempts=1)} | fields
        return (await self.jobs.add(self.job(trigger or OnDemand(), name, **fields))).job

    async def end(self, job, kind=OutcomeKind.SUCCEEDED, took=0, heard=True, error="boom"):
        """A run of a job that ends so."""
        await self.executions.trigger(PROJECT, job.id)
        await self.store.promote(self.clock.instant, 0, 100)
        started = self.clock.instant
        self.woken += 1
        claims = await self.claim()
        self.clock.instant += took
        now = self.clock.instant
        outcome = Outcome(kind=kind, started_at=started, error=error)
        reports = [decide(claim, outcome, now) for claim in claims]
        await self.store.finish(reports, now)
        if heard:
            self.evaluator.hear(AttemptsFinished(reports=reports))

    async def fail(self, job):
        """A run of a job that dies."""
        await self.end(job, OutcomeKind.FAILED)

    async def started(self, claim):
        """The attempt has begun."""
        start = Start(id=claim.id, attempt=claim.attempt, started_at=self.clock.instant)
        await self.store.record_starts([start])

    async def counted(self, succeeded, dead):
        """What a process counts in this minute, in place of what it counted before."""
        start = self.clock.instant // MINUTE * MINUTE
        tally = Tally(succeeded=succeeded, dead=dead)
        record = Record(
            kind=MINUTES.kind,
            project=PROJECT,
            key=MINUTES.key(start, "w"),
            document=queues_document({"default": tally}),
        )
        await self.store.put_record(record, self.clock.instant)

    async def beat(self):
        """A process is there that plans and runs."""
        await self.store.beat(ALIVE, self.clock.instant)

    async def look(self, times=1, evaluator=None):
        for _ in range(times):
            self.clock.instant += 15_000
            await (evaluator or self.evaluator).step()

    async def wait(self, millis):
        """Look until so much time has passed: every 5 minutes at first, at the end every 15 s."""
        end = self.clock.instant + millis
        while end - self.clock.instant > 10 * MINUTE:
            self.clock.instant += 5 * MINUTE - 15_000
            await self.look()
        while self.clock.instant < end:
            await self.look()

    async def told(self, channel, rule=None):
        """The types and names of the messages about a rule, oldest first."""
        return [
            (each["type"].removeprefix("alert."), *(one["name"] for one in each["data"]["alerts"]))
            for each in await self.messages(channel)
            if rule is None or each["data"]["rule"] == (rule if isinstance(rule, str) else rule.id)
        ]

    async def messages(self, channel):
        """The payloads about rules, oldest first."""
        found = await self.raw(channel)
        return sorted(found, key=lambda each: (each["timestamp"], each["data"]["number"]))

    async def raw(self, channel):
        """The payloads that were sent."""
        where = ExecutionFilter(project=PROJECT, job_id=channel)
        page = await self.store.list_executions(where, None, 1000)
        return [each.payload for each in page.items]

    async def history(self, rule):
        """The types of the notices on record, and how many alerts each has."""
        found = await self.store.list_records(HISTORY, PROJECT, "", self.clock.instant)
        ours = [each.document for each in reversed(found) if each.document["rule"] == rule.id]
        return [(each["type"], len(each["alerts"])) for each in ours]


HOURS = 60 * MINUTE
