"""What an engine does with jobs that have a condition: it asks before anything starts."""

import asyncio

from tests.executors.http.conftest import a_claim
from tests.unit.engine.rig import Rig, virtually
from tickwell.domain.event import AttemptsStarted
from tickwell.domain.execution import Kind, OutcomeKind, Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.outcome import Outcome
from tickwell.domain.planning import new_execution
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every
from tickwell.executors.call import CallExecutor
from tickwell.executors.condition import AskedConditions
from tickwell.executors.handlers import Handlers
from tickwell.ids import execution_id
from tickwell.ports.executor import NoConditions
from tickwell.stores.memory import MemoryStore


class Scripted:
    """Conditions that answer what they are told to, and may be held."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self.let_go = asyncio.Event()
        self.let_go.set()

    async def ask(self, claim):
        self.asked.append(claim.id)
        await self.let_go.wait()
        return self.answers.pop(0)

    async def refusal(self, job):
        return ""

    async def close(self):
        pass


NO = Outcome(kind=OutcomeKind.SKIPPED)


async def held(conditions, **options):
    """A rig whose worker has claimed a fire, and asks its condition."""
    rig = Rig()
    rig.runner.conditions = conditions
    rig.events.subscribe(rig.told.append, also=frozenset({AttemptsStarted}))
    job = await rig.add(trigger=Every("1m"), only_if="has_mail", **options)
    rig.id = await fire(rig, job)
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    return rig


def no_sender():
    raise AssertionError("nothing is requested here")


async def fire(rig, job):
    """Let a fire of the job be due now."""
    now = rig.clock.now()
    id = execution_id(job.id, now)
    new = new_execution(job, now, id=id, kind=Kind.FIRE, overlap=Overlap.ALLOW)
    await rig.memory.add_executions([new], now, 0)
    return id


async def test_nothing_starts_while_it_is_asked():
    conditions = Scripted(None)
    conditions.let_go.clear()
    rig = await held(conditions)
    assert conditions.asked == [rig.id]
    assert (rig.executor.calls, rig.heard(AttemptsStarted)) == ([], [])
    assert rig.runner.started() == []
    conditions.let_go.set()
    await rig.settle()
    assert [call.id for call in rig.executor.calls] == [rig.id]
    [event] = rig.heard(AttemptsStarted)
    assert event.starts[0].started_at == rig.clock.now()


async def test_a_no_skips_the_slot_and_frees_the_capacity():
    rig = await held(Scripted(NO))
    await rig.reporter.step()
    one = await rig.one(rig.id)
    assert (one.state, one.reason, one.attempts) == (State.SKIPPED, Reason.CONDITION, [])
    assert (rig.executor.calls, rig.heard(AttemptsStarted)) == ([], [])
    assert not rig.runner.in_hand
    assert [lane.busy for lane in rig.worker.lanes] == [0]


async def test_what_is_cancelled_while_it_is_asked_never_starts():
    conditions = Scripted(None)
    conditions.let_go.clear()
    rig = await held(conditions)
    rig.runner.cancel(rig.id, 1)
    await rig.settle()
    await rig.reporter.step()
    one = await rig.one(rig.id)
    assert (one.state, one.started_at, rig.executor.calls) == (State.CANCELLED, None, [])


async def test_what_is_given_back_while_it_is_asked_costs_nothing_and_is_asked_again():
    conditions = Scripted(None, None)
    conditions.let_go.clear()
    rig = await held(conditions)
    rig.runner.give_back(rig.runner.in_hand[rig.id])
    await rig.settle()
    await rig.reporter.step()
    one = await rig.one(rig.id)
    assert (one.state, one.charged, one.returned) == (State.QUEUED, 0, 0)
    conditions.let_go.set()
    await rig.worker.step()
    await rig.settle()
    assert conditions.asked == [rig.id] * 2
    assert len(rig.executor.calls) == 1


async def test_one_that_answers_after_the_lease_starts_nothing():
    conditions = Scripted(None)
    conditions.let_go.clear()
    rig = await held(conditions)
    rig.runner.trust_until(rig.clock.monotonic())
    conditions.let_go.set()
    await rig.settle()
    await rig.reporter.step()
    assert (await rig.one(rig.id)).state is State.QUEUED
    assert rig.executor.calls == []


async def test_conditions_that_break_are_failed_attempts():
    class Broken(Scripted):
        async def ask(self, claim):
            raise ZeroDivisionError("oh")

    rig = await held(Broken())
    await rig.reporter.step()
    one = await rig.one(rig.id)
    assert (one.state, one.error, one.started_at) == (
        State.WAITING,
        "ZeroDivisionError: oh",
        None,
    )


async def test_requests_and_jobs_without_one_are_not_asked_about():
    conditions = Scripted()
    rig = await held(conditions, name="first")
    assert conditions.asked == [rig.id]
    await rig.request(await rig.add("second", trigger=Every("1m"), only_if="has_mail"))
    await fire(rig, await rig.add("third", trigger=Every("1m")))
    await rig.worker.step()
    await rig.settle()
    assert (len(conditions.asked), len(rig.executor.calls)) == (1, 2)


async def test_without_conditions_or_the_handler_it_is_left_to_other_workers():
    handlers = Handlers()
    unknown = AskedConditions(MemoryStore(), CallExecutor(handlers), no_sender)
    for conditions, why in (
        (NoConditions(), "this worker does not ask conditions"),
        (unknown, "its only_if condition: this worker does not know the handler 'has_mail'"),
    ):
        rig = await held(conditions)
        await rig.reporter.step()
        one = await rig.one(rig.id)
        assert (one.state, one.charged) == (State.QUEUED, 0)
        assert one.error.startswith(why)
        [refusal] = rig.worker.refusals.announced()
        assert (refusal.job, refusal.why) == ("job", one.error)
        await rig.worker.step()
        assert (await rig.one(rig.id)).attempt == 1
    handlers.add("has_mail", lambda: True)
    assert await rig.runner.refusal((await rig.memory.get_jobs("default", ["job"]))[0].job) == ""


@virtually
async def test_one_that_does_not_answer_in_time_is_a_failed_attempt():
    handlers = Handlers()
    handlers.add("has_mail", asyncio.Event().wait)
    conditions = AskedConditions(MemoryStore(), CallExecutor(handlers), no_sender)
    outcome = await conditions.ask(a_claim(Call("work"), policies={"only_if": "has_mail"}))
    assert outcome is not None
    assert (outcome.kind, outcome.started_at) == (OutcomeKind.TIMED_OUT, None)
    assert outcome.error == "its only_if condition: it did not answer within 10 s"
