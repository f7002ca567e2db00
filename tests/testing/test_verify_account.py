"""The account of a verification says what is wrong, and nothing else."""

import pytest

from tickwell.domain.execution import OutcomeKind
from tickwell.stores.memory import MemoryStore
from tickwell.testing.contract.builders import minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.verify.account import take
from tickwell.testing.verify.notes import BEGIN, FENCED, Note

AT = minute(1)


@pytest.fixture
def scene():
    return Scene(MemoryStore())


@pytest.fixture
async def done(scene):
    """One job that fired once and succeeded."""
    job = await scene.job()
    await scene.fire(AT)
    claim = await scene.claim_one(AT)
    await scene.succeed(claim, AT)
    return job, claim


def note(claim, what=BEGIN, attempt=1, process=7, at=AT):
    return Note(what, claim.id, attempt, process, at / 1000)


def wrong(account):
    names = ("doubled", "lost", "early", "unfenced")
    return {name: len(getattr(account, name)) for name in names if getattr(account, name)}


async def test_a_clean_run(scene, done):
    job, claim = done
    account = await take(scene.store, {job.id: [AT]}, [note(claim)], 0.0)
    assert wrong(account) == {}
    assert (account.fires, account.records, account.calls) == (1, 1, 1)


async def test_what_is_lost(scene, done):
    job, claim = done
    account = await take(scene.store, {job.id: [AT, minute(2)]}, [note(claim)], 0.0)
    assert wrong(account) == {"lost": 1}
    account = await take(scene.store, {job.id: [AT]}, [], 0.0)
    assert account.lost == [f"{claim.id} is recorded as succeeded, but no handler was called"]


async def test_what_has_not_ended_is_lost(scene):
    job = await scene.job()
    await scene.fire(AT)
    account = await take(scene.store, {job.id: [AT]}, [], 0.0)
    assert wrong(account) == {"lost": 1}


async def test_what_nobody_asked_for_is_doubled(scene, done):
    _, claim = done
    stranger = note(claim)._replace(execution="x")
    account = await take(scene.store, {}, [note(claim), stranger], 0.0)
    assert wrong(account) == {"doubled": 2}


async def test_what_is_early_by_the_clock_of_the_store(scene, done):
    job, claim = done
    for early, latest, found in ((1, 0.0, {}), (2, 0.0, {"early": 1}), (500, 0.499, {})):
        calls = [note(claim, at=AT - early)]
        assert wrong(await take(scene.store, {job.id: [AT]}, calls, latest)) == found


async def test_an_attempt_of_two_processes_is_not_fenced(scene, done):
    job, claim = done
    calls = [note(claim), note(claim, process=8)]
    assert wrong(await take(scene.store, {job.id: [AT]}, calls, 0.0)) == {"unfenced": 1}


async def test_whoever_succeeded_is_not_refused(scene, done):
    job, claim = done
    seen = [note(claim), note(claim, FENCED)]
    account = await take(scene.store, {job.id: [AT]}, seen, 0.0)
    assert (account.refused, wrong(account)) == (1, {"unfenced": 1})


async def test_a_late_report_that_was_refused_is_as_it_should_be(scene):
    job = await scene.job()
    await scene.fire(AT)
    first = await scene.claim_one(AT)
    pulse = await scene.beat("w1", now=AT)
    await scene.store.declare_lost("w1", pulse.beat, AT)
    [orphan] = await scene.store.orphans(AT, 10)
    await scene.finish(orphan, OutcomeKind.LOST, AT)
    await scene.promote(minute(2))
    second = await scene.claim_one(minute(2), "w2")
    await scene.succeed(second, minute(2))
    seen = [note(first), note(first, FENCED), note(second, attempt=2, process=8)]
    account = await take(scene.store, {job.id: [AT]}, seen, 0.0)
    assert wrong(account) == {}
    assert (account.lost_attempts, account.refused, account.calls) == (1, 1, 2)
