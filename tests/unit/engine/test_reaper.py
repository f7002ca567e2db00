import os
from dataclasses import replace

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain import outcome
from tickwell.domain.event import Recovered, WorkerLost
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import LOST_BUDGET, MANY_LOST, RETURN_BUDGET, Timeout
from tickwell.engine.liveness.process_identity import own_process
from tickwell.errors import StoreUnavailable
from tickwell.observe.logs import EventLog
from tickwell.ports.records import ClaimRequest

#: A process of this machine with a number that Linux never counts to.
BOOT, NAMESPACE, _, BEGAN = own_process().split()
NOBODY = f"{BOOT} {NAMESPACE} {2**22 + 1} {BEGAN}"


@pytest.fixture
async def scene():
    """A worker that has claimed something, and a reaper of another process."""
    rig = Rig(lease=30, beat=10, sweep=5)
    rig.id = await rig.request(await rig.add(timeout=Timeout(soft="5s", hard="8s")))
    rig.executor.hold("quick")
    await rig.beat()
    await rig.worker.step()
    return rig


async def sweep(rig, seconds, *, beats=False):
    for _ in range(int(seconds / 5)):
        await rig.clock.advance(5)
        sent = rig.clock.monotonic()
        rig.clock.sample(rig.clock.now(), sent, sent)  # the reaper's own pulse goes on
        if beats:
            await rig.beat()
        await rig.reaper.step()


async def test_a_beat_that_stays_the_same_for_the_lease_is_a_loss(scene):
    await scene.reaper.step()
    await sweep(scene, 25)
    assert scene.heard(WorkerLost) == []
    await sweep(scene, 5)
    (lost,) = scene.heard(WorkerLost)
    (row,) = await scene.store.list_workers()
    there = (row.worker.id, row.worker.host, row.worker.pid, row.worker.roles)
    assert (lost.worker, lost.host, lost.pid, lost.roles) == there
    assert (lost.pid, lost.roles) == (os.getpid(), ("planner", "worker"))
    assert [event.executions for event in scene.heard(Recovered)] == [[scene.id]]
    one = await scene.one(scene.id)
    assert (one.state, one.attempts[0].outcome) == (State.WAITING, OutcomeKind.LOST)
    assert (one.charged, one.lost) == (0, 1)
    assert scene.woken == 1


async def test_a_worker_that_beats_is_never_lost_whatever_its_rows_time_says(scene):
    scene.memory.tables.workers[scene.worker.id].seen_at = 0
    await sweep(scene, 300, beats=True)
    assert scene.heard(WorkerLost) == []


async def test_an_outage_counts_for_nothing(scene):
    await scene.reaper.step()
    await sweep(scene, 25)
    scene.store.away = True
    for _ in range(3):
        await scene.clock.advance(2)
        with pytest.raises(StoreUnavailable):
            await scene.reaper.step()
    scene.store.away = False
    await sweep(scene, 30)
    assert scene.heard(WorkerLost) == []
    await sweep(scene, 5)
    assert len(scene.heard(WorkerLost)) == 1


async def test_a_reaper_that_stood_still_starts_to_count_anew(scene):
    await scene.reaper.step()
    await scene.clock.advance(100)
    await sweep(scene, 30)
    assert scene.heard(WorkerLost) == []


async def test_without_a_recent_sample_it_judges_nobody(scene):
    await scene.reaper.step()
    await scene.clock.advance(31)
    with pytest.raises(StoreUnavailable):
        await scene.reaper.step()


async def test_a_jump_of_the_stores_clock_loses_nobody(scene):
    await scene.reaper.step()
    scene.clock.jump(30 * 60)
    await sweep(scene, 20)
    assert scene.heard(WorkerLost) == []


async def test_a_beat_at_the_last_moment_wins_over_the_declaration(scene):
    await scene.reaper.step()
    await sweep(scene, 25)
    await scene.clock.advance(5)
    real = scene.memory.declare_lost

    async def beaten_to_it(*args):
        await scene.beat()
        return await real(*args)

    scene.memory.declare_lost = beaten_to_it
    await scene.reaper.step()
    assert scene.heard(WorkerLost) == []
    assert await scene.state(scene.id) is State.RUNNING


async def test_an_attempt_past_its_deadline_is_recovered_from_a_living_worker(scene):
    await sweep(scene, 65, beats=True)
    assert await scene.state(scene.id) is State.RUNNING
    await sweep(scene, 10, beats=True)
    assert (await scene.one(scene.id)).attempts[0].outcome is OutcomeKind.LOST
    assert scene.heard(WorkerLost) == []


async def test_a_claim_that_was_held_by_the_lost_waits_on_for_its_instant():
    rig = Rig(lease=3, beat=1, sweep=1, lead=60, horizon=60)
    id = await rig.request(await rig.add(), in_seconds=50)
    await rig.beat()
    await rig.worker.step()
    due = (await rig.one(id)).run_at
    for _ in range(6):
        await rig.reaper.step()
        await rig.clock.advance(1)
        sent = rig.clock.monotonic()
        rig.clock.sample(rig.clock.now(), sent, sent)
    one = await rig.one(id)
    assert one.attempts[0].outcome is OutcomeKind.LOST
    assert one.run_at == due


async def test_a_full_batch_of_orphans_is_followed_by_the_next_at_once():
    rig = Rig(batch=2, lease=3, beat=1, sweep=1)
    job = await rig.add()
    for _ in range(3):
        await rig.request(job)
    rig.executor.hold("quick")
    await rig.beat()
    while await rig.worker.step() == 0.0:
        pass
    rig.memory.tables.workers.clear()  # forgotten
    assert await rig.reaper.step() == 0.0
    assert await rig.reaper.step() == rig.settings.sweep
    assert await rig.running() == 0


async def test_a_process_of_this_machine_that_is_gone_is_lost_at_once(scene):
    known = scene.memory.tables.workers[scene.worker.id]
    known.worker = replace(known.worker, process=NOBODY)
    await scene.reaper.step()
    assert len(scene.heard(WorkerLost)) == 1
    assert [event.executions for event in scene.heard(Recovered)] == [[scene.id]]


async def test_what_ended_meanwhile_was_not_recovered(scene):
    known = scene.memory.tables.workers[scene.worker.id]
    known.worker = replace(known.worker, process=NOBODY)
    real = scene.memory.orphans

    async def ended_meanwhile(now, limit):
        claims = await real(now, limit)
        ended = Outcome(kind=OutcomeKind.SUCCEEDED, started_at=now)
        await scene.memory.finish([decide(claim, ended, now) for claim in claims], now)
        return claims

    scene.memory.orphans = ended_meanwhile
    await scene.reaper.step()
    assert await scene.state(scene.id) is State.SUCCEEDED
    assert scene.heard(Recovered) == []


async def test_that_of_another_machine_is_not(scene):
    known = scene.memory.tables.workers[scene.worker.id]
    known.worker = replace(known.worker, process=NOBODY, host="elsewhere")
    await scene.reaper.step()
    assert scene.heard(WorkerLost) == []


async def lose_all(rig):
    """Everything that is queued is claimed by a worker that goes away with it."""
    await rig.beat()
    await rig.memory.claim(
        ClaimRequest(
            worker=rig.worker.id,
            claim_id="all",
            now=rig.clock.now(),
            lead=0,
            limit=1000,
            queues=("default",),
            abilities=frozenset({"call:quick"}),
        )
    )
    rig.memory.tables.workers.clear()
    while await rig.reaper.step() == 0.0:
        pass


@pytest.mark.parametrize(
    ("attempts", "batch", "blamed"),
    [
        (MANY_LOST - 1, 500, True),
        (MANY_LOST, 500, False),
        (MANY_LOST + 3, MANY_LOST, False),  # the rest of them in a batch of their own
    ],
)
async def test_those_that_are_lost_in_a_crowd_are_not_blamed(attempts, batch, blamed):
    rig = Rig(batch=batch)
    job = await rig.add()
    ids = [await rig.request(job) for _ in range(attempts)]
    await lose_all(rig)
    counts = {(one.lost, one.returned) for one in [await rig.one(id) for id in ids]}
    assert counts == {(1, 0) if blamed else (0, 1)}


async def test_a_job_whose_policy_cannot_be_computed_does_not_stop_the_others(monkeypatch, caplog):
    rig = Rig()
    rig.engine.events.subscribe(EventLog().hear)
    bad, good = await rig.add("bad"), await rig.add("good")
    ids = [await rig.request(job) for job in (bad, good)]
    sound = outcome.decide

    def decide(claim, ended, now):
        if claim.job.name == "bad" and ended.kind is OutcomeKind.LOST:
            raise OverflowError("too long")
        return sound(claim, ended, now)

    monkeypatch.setattr(outcome, "decide", decide)
    await lose_all(rig)
    assert [await rig.state(id) for id in ids] == [State.DEAD, State.WAITING]
    (attempt,) = (await rig.one(ids[0])).attempts
    assert "the retry policy cannot be computed: OverflowError('too long')" in attempt.error
    (line,) = [one for one in caplog.records if one.levelname == "ERROR"]
    assert ids[0] in line.getMessage()


async def test_one_past_its_own_deadline_is_blamed_in_any_crowd():
    rig = Rig()
    job = await rig.add(timeout=Timeout(soft="1s", hard="1s"))
    ids = [await rig.request(job) for _ in range(MANY_LOST)]
    rig.executor.hold("quick")
    await rig.beat()
    await rig.worker.step()
    await rig.clock.advance(70)
    await rig.beat()
    await rig.reaper.step()
    assert {(await rig.one(id)).lost for id in ids} == {1}


async def test_one_that_kills_its_worker_dies_although_it_always_runs_in_a_crowd():
    rig = Rig()
    job = await rig.add()
    poison, rounds = await rig.request(job), 0
    while await rig.state(poison) is not State.DEAD:
        for _ in range(MANY_LOST):
            await rig.request(job)
        await lose_all(rig)
        rounds += 1
        await rig.clock.advance(3600)
        await rig.beat()
        await rig.memory.promote(rig.clock.now(), 0, 1000)
    one = await rig.one(poison)
    assert [each.outcome for each in one.attempts] == [OutcomeKind.LOST] * rounds
    assert (rounds, one.reason) == (RETURN_BUDGET + LOST_BUDGET, "lost 3 times")
