"""Callbacks: one run for each event, whoever saw it."""

import asyncio
import random
from dataclasses import replace
from functools import partial

import pytest

from tickwell import OnDemand
from tickwell.domain.change import pause, resume
from tickwell.domain.event import AttemptsFinished, JobPaused
from tickwell.domain.execution import PENDING, OutcomeKind, Reason, State
from tickwell.domain.job import BY_POLICY, Cursor, Entry, Job
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import Retry
from tickwell.domain.target import Call
from tickwell.domain.worker import Worker
from tickwell.errors import InvalidInput, InvalidJob, NotFound
from tickwell.ids import new_id
from tickwell.ports.records import ClaimRequest, ExecutionFilter, JobFilter, Record
from tickwell.services.access.actor import Role
from tickwell.services.callbacks import relay as relaying
from tickwell.services.callbacks.callback import PROJECTS_KIND, CallbackEvent
from tickwell.services.callbacks.relay import SWEEP, Relay
from tickwell.services.every_record import every_record
from tickwell.services.executions.executions import Executions
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.secrets.source import StoredSecrets

URL = "https://example.com/told"
WORKER = Worker(
    id="w", host="h", pid=1, queues=("default",), abilities=("call:*/x",), capacity=99, started_at=0
)


class Scene:
    """A job, and by hand what a worker would do."""

    def __init__(self, office, service):
        self.office, self.service = office, service
        self.store, self.clock = office.store, office.clock
        self.clock.monotonic = lambda: self.clock.instant / 1000
        self.jobs = service.projects._jobs
        self.runs = Executions(self.store, self.clock, random.Random(2), lambda: None)
        self.claims = 0

    def relay(self):
        return Relay(self.store, self.clock, self.runs)

    async def job(self, name="report", attempts=1):
        job = Job(
            id="",
            name=name,
            project="acme",
            trigger=OnDemand(),
            target=Call("x"),
            retry=Retry(max_attempts=attempts, delay="0s"),
        )
        return (await self.jobs.add(job)).job

    async def end(self, kind, name="report", trigger=True, **outcome):
        """One attempt that ended so; the reports of it."""
        self.clock.instant += 10
        now = self.clock.instant
        if trigger:
            await self.runs.trigger("acme", name)
        await self.store.promote(now, 0, 100)
        await self.store.beat(WORKER, now)
        self.claims += 1
        request = ClaimRequest(
            worker="w",
            claim_id=f"c{self.claims}",
            now=now,
            lead=0,
            limit=99,
            queues=("default",),
            abilities=frozenset({"call:*/x"}),
        )
        claims = await self.store.claim(request)
        assert len(claims) == 1
        ended = Outcome(kind=kind, started_at=now, error="no", **outcome)
        reports = [decide(claim, ended, now) for claim in claims]
        await self.store.finish(reports, now)
        return AttemptsFinished(reports=reports)

    async def messages(self, callback):
        where = ExecutionFilter(project="acme", job_id=callback.id)
        return [each.payload for each in (await self.store.list_executions(where, None, 100)).items]

    async def told(self, callback):
        messages = await self.messages(callback)
        return sorted(each["type"].removeprefix("execution.") for each in messages)


@pytest.fixture
def scene(office, service):
    return Scene(office, service)


async def create(scene, *kinds, job=None):
    made = await scene.service.callbacks.create(scene.office.actor(), URL, frozenset(kinds), job)
    return made.callback


async def tell(scene, *events, relays=1):
    found = [scene.relay() for _ in range(relays)]
    for relay in found:
        for event in events:
            relay.hear(event)
    await asyncio.gather(*(relay.step() for relay in found))


async def test_each_event_is_told_once_whoever_sees_it(scene):
    await scene.job()
    callback = await create(scene, CallbackEvent.SUCCEEDED, CallbackEvent.DEAD)
    events = [await scene.end(OutcomeKind.SUCCEEDED), await scene.end(OutcomeKind.FAILED)]
    await tell(scene, *events, relays=4)
    await tell(scene, *events)
    assert await scene.told(callback) == ["dead", "succeeded"]
    messages = await scene.messages(callback)
    assert {each["data"]["job_name"] for each in messages} == {"report"}


async def test_failed_attempts_dead_letters_and_recovery(scene):
    await scene.job(attempts=2)
    callback = await create(scene, *CallbackEvent)
    events = [
        await scene.end(OutcomeKind.FAILED),
        await scene.end(OutcomeKind.TIMED_OUT, trigger=False),
    ]
    await tell(scene, *events)
    assert await scene.told(callback) == ["dead", "failed", "failed"]
    await tell(scene, await scene.end(OutcomeKind.SUCCEEDED))
    await tell(scene, await scene.end(OutcomeKind.SUCCEEDED))
    told = await scene.told(callback)
    assert told == ["dead", "failed", "failed", "recovered", "succeeded", "succeeded"]


async def test_a_dead_letter_that_is_revived_and_succeeds_has_recovered(scene):
    await scene.job(attempts=2)
    callback = await create(scene, CallbackEvent.DEAD, CallbackEvent.RECOVERED)
    died = [
        await scene.end(OutcomeKind.FAILED),
        await scene.end(OutcomeKind.FAILED, trigger=False),
    ]
    (report,) = died[-1].reports
    await tell(scene, *died)
    await scene.runs.revive("acme", [report.claim.id])
    again = [
        await scene.end(OutcomeKind.RELEASED, trigger=False),
        await scene.end(OutcomeKind.FAILED, trigger=False),
        await scene.end(OutcomeKind.SUCCEEDED, trigger=False),
    ]
    await tell(scene, *again, await scene.end(OutcomeKind.SUCCEEDED))
    assert await scene.told(callback) == ["dead", "recovered"]


async def test_a_retry_that_succeeds_is_no_recovery(scene):
    await scene.job(attempts=3)
    callback = await create(scene, CallbackEvent.RECOVERED)
    first = await scene.end(OutcomeKind.LOST)
    scene.clock.instant += 60_000
    second = await scene.end(OutcomeKind.FAILED, trigger=False)
    await tell(scene, first, second, await scene.end(OutcomeKind.SUCCEEDED, trigger=False))
    assert await scene.told(callback) == []


async def test_recovery_is_seen_however_many_ran_since(scene):
    await scene.job()
    callback = await create(scene, CallbackEvent.RECOVERED)
    await scene.end(OutcomeKind.FAILED)
    event = await scene.end(OutcomeKind.SUCCEEDED)
    for _ in range(11):
        await scene.end(OutcomeKind.SUCCEEDED)
    await tell(scene, event)
    assert await scene.told(callback) == ["recovered"]


async def test_of_one_job_only(scene):
    await scene.job()
    await scene.job("other")
    callback = await create(scene, CallbackEvent.SUCCEEDED, job="report")
    await tell(scene, await scene.end(OutcomeKind.SUCCEEDED, "other"))
    assert await scene.told(callback) == []
    await tell(scene, await scene.end(OutcomeKind.SUCCEEDED))
    assert await scene.told(callback) == ["succeeded"]


async def test_what_nobody_told_is_told_within_two_minutes(scene):
    """The process that recorded the end died before it asked."""
    await scene.job()
    await scene.end(OutcomeKind.SUCCEEDED)
    scene.clock.instant += 1
    callback = await create(scene, CallbackEvent.SUCCEEDED, CallbackEvent.DEAD)
    await scene.end(OutcomeKind.FAILED)
    relays = [scene.relay() for _ in range(3)]
    scene.clock.instant += int(SWEEP * 1000)
    await asyncio.gather(*(relay.step() for relay in relays))
    # Not of what ended before the callback was there.
    assert await scene.told(callback) == ["dead"]
    scene.clock.instant += int(SWEEP * 1000)
    await asyncio.gather(*(relay.step() for relay in relays))
    assert await scene.told(callback) == ["dead"]


async def test_of_callbacks_themselves_nothing_is_told(scene):
    await scene.job()
    callback = await create(scene, *CallbackEvent)
    await tell(scene, await scene.end(OutcomeKind.SUCCEEDED))
    sender = (await scene.jobs.get("acme", callback.sender)).job
    assert sender.id == callback.id
    assert sender.tags == ("callback",)


async def test_a_job_is_not_taken_for_one_by_its_tag(scene):
    job = await scene.job()
    await scene.jobs.edit("acme", job.id, replace(job, tags=("callback",)))
    callback = await create(scene, CallbackEvent.DEAD)
    await tell(scene, await scene.end(OutcomeKind.FAILED))
    assert await scene.told(callback) == ["dead"]


@pytest.mark.parametrize("name", ["renamed", None])
async def test_nothing_is_told_of_one_whatever_its_name(scene, name):
    callback = await create(scene, *CallbackEvent)
    sender = (await scene.jobs.get("acme", callback.id)).job
    # A target that this worker can run, in place of a webhook.
    job = replace(sender, name=name or sender.name, tags=(), target=Call("x"))
    await scene.jobs.edit("acme", callback.id, job)
    event = await scene.end(OutcomeKind.SUCCEEDED, callback.id)
    await tell(scene, event)
    scene.clock.instant += 2 * int(SWEEP * 1000)
    await tell(scene)
    where = ExecutionFilter(project="acme", job_id=callback.id)
    assert len((await scene.store.list_executions(where, None, 100)).items) == 1


async def test_it_is_signed_with_a_key_that_is_shown_once(scene):
    made = await scene.service.callbacks.create(
        scene.office.actor(), URL, frozenset({CallbackEvent.DEAD})
    )
    job = (await scene.jobs.get("acme", made.callback.sender)).job
    assert job.target.sign_with == (f"{{{{secret.{made.callback.sender}}}}}",)
    source = StoredSecrets(scene.store, scene.clock, lambda: scene.office.keyring)
    found = await source.get("acme", {made.callback.sender: {"example.com"}})
    assert found[made.callback.sender] == made.signing_key
    assert made.signing_key.startswith("whsec_")


async def test_a_deleted_callback_is_told_nothing(scene):
    await scene.job()
    callback = await create(scene, CallbackEvent.SUCCEEDED)
    event = await scene.end(OutcomeKind.SUCCEEDED)
    await scene.service.callbacks.delete(scene.office.actor(), callback.id)
    await tell(scene, event)
    assert await scene.told(callback) == []
    assert await scene.service.callbacks.list(scene.office.actor()) == []
    with pytest.raises(NotFound):
        await scene.jobs.get("acme", callback.sender)
    with pytest.raises(NotFound):
        await scene.service.callbacks.delete(scene.office.actor(), callback.id)


async def test_a_job_named_like_the_callback_is_left_alone(scene):
    await scene.job()
    callback = await create(scene, CallbackEvent.SUCCEEDED)
    event = await scene.end(OutcomeKind.SUCCEEDED)
    actor, jobs = scene.office.actor(), scene.jobs
    await jobs.delete("acme", [callback.id])
    for name in (callback.id, callback.sender):  # as an earlier version took them
        id = new_id(scene.clock.instant, random.Random(name))
        job = replace((await jobs.get("acme", "report")).job, id=id, name=name)
        await scene.store.add_jobs([Entry(job, Cursor())], scene.clock.instant)
    await tell(scene, event)
    await scene.service.callbacks.delete(actor, callback.id)
    page = await jobs.list(JobFilter(project="acme"))
    assert {each.job.name for each in page.items} == {"report", callback.id, callback.sender}
    assert await scene.told(callback) == []
    ran = await scene.store.list_executions(ExecutionFilter(project="acme"), None, 100)
    assert len(ran.items) == 1


async def test_bad_ones_change_nothing(scene, monkeypatch):
    actor = scene.office.actor()
    callbacks = scene.service.callbacks
    with pytest.raises(InvalidInput):
        await callbacks.create(actor, URL, frozenset())
    with pytest.raises(InvalidJob, match=r"^url: "):
        await callbacks.create(actor, "ftp://example.com", frozenset({CallbackEvent.DEAD}))
    with pytest.raises(NotFound):
        await callbacks.create(actor, URL, frozenset({CallbackEvent.DEAD}), "none")
    monkeypatch.setattr("tickwell.services.secrets.secrets.MOST", 0)
    with pytest.raises(InvalidInput, match="secrets at most"):
        await callbacks.create(actor, URL, frozenset({CallbackEvent.DEAD}))
    assert await callbacks.list(actor) == []
    assert (await scene.jobs.list(JobFilter(project="acme"))).items == []
    assert await scene.service.callbacks.list(scene.office.actor(Role.ADMIN, "other")) == []


async def test_a_project_has_twenty_however_many_are_asked_for_at_once(scene):
    made = [create(scene, CallbackEvent.DEAD) for _ in range(30)]
    came = await asyncio.gather(*made, return_exceptions=True)
    assert sum(isinstance(each, InvalidInput) for each in came) == 10
    assert len(await scene.service.callbacks.list(scene.office.actor())) == 20
    assert len((await scene.jobs.list(JobFilter(project="acme"))).items) == 20


async def test_a_callback_added_just_before_a_run_hears_of_it(scene):
    await scene.job()
    relay = scene.relay()
    relay.hear(await scene.end(OutcomeKind.SUCCEEDED))
    await relay.step()  # reads that there are no callbacks
    first = await create(scene, CallbackEvent.SUCCEEDED)
    relay.hear(await scene.end(OutcomeKind.SUCCEEDED))
    await relay.step()
    assert await scene.told(first) == ["succeeded"]
    second = await create(scene, CallbackEvent.SUCCEEDED)
    relay.hear(await scene.end(OutcomeKind.SUCCEEDED))
    await relay.step()
    assert await scene.told(second) == ["succeeded"]


async def test_a_project_beyond_the_first_page_of_them_is_told(scene, monkeypatch):
    monkeypatch.setattr(relaying, "every_record", partial(every_record, page=2))
    for project in ("a", "aa", "ab"):
        place = Record(kind=PROJECTS_KIND, project=PLATFORM, key=project, document={})
        await scene.store.put_record(place, scene.clock.instant)
    await scene.job()
    callback = await create(scene, CallbackEvent.SUCCEEDED)
    await tell(scene, await scene.end(OutcomeKind.SUCCEEDED))
    assert await scene.told(callback) == ["succeeded"]


async def sweep(scene, relays=1):
    """What processes do that heard nothing."""
    found = [scene.relay() for _ in range(relays)]
    scene.clock.instant += int(SWEEP * 1000)
    await asyncio.gather(*(relay.step() for relay in found))


async def test_a_late_start_is_told_once_with_the_end_of_its_attempt(scene):
    await scene.job()
    callback = await create(scene, CallbackEvent.LATE)
    await tell(scene, await scene.end(OutcomeKind.SUCCEEDED))
    await scene.runs.trigger("acme", "report")
    scene.clock.instant += 1_000
    event = await scene.end(OutcomeKind.FAILED, trigger=False)
    await tell(scene, event, relays=2)
    await sweep(scene)
    assert await scene.told(callback) == ["late"]


@pytest.mark.parametrize("heard", [True, False])
async def test_a_fire_that_its_condition_denied_is_told_once(scene, heard):
    await scene.job()
    callback = await create(scene, CallbackEvent.SKIPPED)
    event = await scene.end(OutcomeKind.SKIPPED)
    if heard:
        await tell(scene, event, relays=2)
        assert await scene.told(callback) == ["skipped"]
    await sweep(scene, relays=2)
    [message] = await scene.messages(callback)
    assert message["data"]["reason"] == "its only_if condition answered no"


async def test_what_is_skipped_or_cancelled_before_it_started_is_found(scene):
    job = await scene.job()
    callback = await create(scene, CallbackEvent.SKIPPED, CallbackEvent.CANCELLED)
    for to, reason in (
        (State.SKIPPED, Reason.OVERLAP),
        (State.SKIPPED, Reason.WITHDRAWN),
        (State.CANCELLED, "cancelled"),
    ):
        run = await scene.runs.trigger("acme", "report")
        now = scene.clock.instant
        assert await scene.store.settle([run.id], PENDING, to, reason, now)
    await sweep(scene, relays=2)
    await sweep(scene)
    assert await scene.told(callback) == ["cancelled", "skipped"]
    reasons = {each["data"]["reason"] for each in await scene.messages(callback)}
    assert reasons == {
        "the previous execution had not ended, and the overlap policy skips",
        "cancelled",
    }
    assert {each["data"]["job_id"] for each in await scene.messages(callback)} == {job.id}


@pytest.mark.parametrize("heard", [True, False])
async def test_each_pause_by_a_policy_is_told_once_whoever_sees_it(scene, heard):
    job = await scene.job()
    callback = await create(scene, CallbackEvent.PAUSED)
    for why in ("3 executions died in a row", "answered 410 Gone"):
        scene.clock.instant += 10
        now = scene.clock.instant
        await scene.store.change_jobs("acme", [job.id], pause(BY_POLICY, why), now)
        if heard:
            await tell(scene, JobPaused(job="report", why=why, id=job.id, project="acme"), relays=2)
        await sweep(scene, relays=2)
        await scene.store.change_jobs("acme", [job.id], resume(), scene.clock.instant)
    messages = await scene.messages(callback)
    assert sorted(each["data"]["reason"] for each in messages) == [
        "3 executions died in a row",
        "answered 410 Gone",
    ]
    assert {each["type"] for each in messages} == {"job.paused"}


async def test_pauses_by_people_and_of_other_jobs_are_not_told(scene):
    job, other = await scene.job(), await scene.job("other")
    callback = await create(scene, CallbackEvent.PAUSED, job="other")
    now = scene.clock.instant
    await scene.store.change_jobs("acme", [job.id], pause(BY_POLICY, "died"), now)
    await scene.store.change_jobs("acme", [other.id], pause("ada", "holidays"), now)
    await sweep(scene)
    assert await scene.messages(callback) == []


async def test_the_body_says_in_words_why_one_is_dead(scene):
    await scene.job(attempts=3)
    callback = await create(scene, CallbackEvent.DEAD)
    event = await scene.end(OutcomeKind.FAILED, retry=False, why_final="the account is closed")
    await tell(scene, event)
    [message] = await scene.messages(callback)
    assert message["data"]["reason"] == "gave up: the account is closed"
