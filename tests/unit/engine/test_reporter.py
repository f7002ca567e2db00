from dataclasses import replace

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.change import resume
from tickwell.domain.event import AttemptsFenced, AttemptsFinished, JobPaused
from tickwell.domain.execution import State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.policy import Retry
from tickwell.engine.running.reporter import APART, FAR_APART, UNTIL_WOKEN
from tickwell.engine.running.start_guard import CROWD, RESULTS_BATCHES, RESULTS_WAIT
from tickwell.errors import StoreUnavailable
from tickwell.testing.executors import fails


async def ran(rig, count=1, **options):
    """Attempts that have ended and are not reported yet."""
    job = await rig.add(**options)
    ids = [await rig.request(job) for _ in range(count)]
    await rig.beat()
    while await rig.worker.step() == 0.0:
        await rig.settle()
    await rig.settle()
    return ids


async def job(rig):
    (entry,) = await rig.memory.get_jobs("default", ["job"])
    return entry


async def test_outcomes_are_written_in_one_call(rig):
    await ran(rig, count=20)
    assert rig.reporter.backlog == 20
    assert await rig.reporter.step() == UNTIL_WOKEN
    assert [len(reports) for reports, _ in rig.store.named("finish")] == [20]
    assert set(await rig.states()) == {State.SUCCEEDED}


async def test_more_than_a_batch_is_written_batch_by_batch_without_a_rest():
    rig = Rig(batch=8)
    await ran(rig, count=20)
    assert [await rig.reporter.step() for _ in range(3)] == [0.0, 0.0, UNTIL_WOKEN]
    assert [len(reports) for reports, _ in rig.store.named("finish")] == [8, 8, 4]


async def test_a_failed_finish_is_repeated_as_it_was(rig):
    (id,) = await ran(rig)
    rig.store.before["finish"] = 3
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await rig.reporter.step()
        await rig.clock.advance(7)
    await rig.reporter.step()
    batches = [reports for reports, _ in rig.store.named("finish")]
    assert all(batch is batches[0] for batch in batches)
    assert await rig.state(id) is State.SUCCEEDED


async def test_a_finish_whose_reply_was_lost_is_not_refused_when_repeated(rig):
    (id,) = await ran(rig)
    rig.store.after["finish"] = 1
    with pytest.raises(StoreUnavailable):
        await rig.reporter.step()
    await rig.reporter.step()
    assert await rig.state(id) is State.SUCCEEDED
    assert rig.heard(AttemptsFenced) == []
    assert len(rig.heard(AttemptsFinished)) == 1


async def test_what_comes_meanwhile_goes_into_the_next_batch_and_nothing_is_dropped(rig):
    await ran(rig, count=3)
    rig.store.before["finish"] = 1
    with pytest.raises(StoreUnavailable):
        await rig.reporter.step()
    await ran(rig, count=2, name="later")
    assert rig.reporter.backlog == 5
    await rig.reporter.step()
    await rig.reporter.step()
    assert rig.reporter.backlog == 0
    assert await rig.states() == [State.SUCCEEDED] * 5


async def test_a_fenced_report_is_told_and_changes_nothing(rig):
    (id,) = await ran(rig)
    rig.memory.tables.rows[id].execution.attempt = 2  # another worker has it now
    await rig.reporter.step()
    assert [len(event.reports) for event in rig.heard(AttemptsFenced)] == [1]
    assert await rig.state(id) is State.RUNNING


async def test_a_job_is_paused_after_so_many_dead_in_a_row(rig):
    rig.executor.script("quick", fails())
    await ran(rig, count=2, pause_after=3, retry=Retry(max_attempts=1))
    await rig.reporter.step()
    (entry,) = await rig.memory.get_jobs("default", ["job"])
    assert entry.cursor.state is JobState.ACTIVE
    await rig.request(entry.job)
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()
    (entry,) = await rig.memory.get_jobs("default", ["job"])
    assert entry.cursor.state is JobState.PAUSED
    assert entry.cursor.pause.by == "policy"
    assert "3 executions died in a row" in rig.heard(JobPaused)[0].why


async def test_one_batch_of_deaths_is_one_pause_and_one_event(rig):
    rig.executor.script("quick", fails())
    await ran(rig, count=5, pause_after=3, retry=Retry(max_attempts=1))
    await rig.reporter.step()
    assert [event.why for event in rig.heard(JobPaused)] == ["5 executions died in a row"]


async def test_a_resumed_job_is_not_paused_for_the_deaths_before(rig):
    rig.executor.script("quick", fails())
    await ran(rig, count=3, pause_after=3, retry=Retry(max_attempts=1))
    await rig.reporter.step()
    await rig.memory.change_jobs("default", [(await job(rig)).job.id], resume(), rig.clock.now())
    await rig.request((await job(rig)).job)
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()
    entry = await job(rig)
    assert (entry.cursor.state, entry.cursor.failures) == (JobState.ACTIVE, 1)
    assert len(rig.heard(JobPaused)) == 1


async def test_an_attempt_that_is_tried_again_pauses_nothing(rig):
    rig.executor.script("quick", fails())
    await ran(rig, pause_after=1, retry=Retry(max_attempts=2))
    entry = await job(rig)
    died = Entry(entry.job, replace(entry.cursor, failures=1))  # the pause was lost in a crash
    rig.memory.tables.put_entry(died)
    await rig.reporter.step()
    assert (await job(rig)).cursor.state is JobState.ACTIVE


async def test_a_target_may_ask_for_the_pause(rig):
    gone = fails("410 Gone", retry=False)
    gone.pause = "the endpoint is gone"
    rig.executor.script("quick", gone)
    await ran(rig)
    await rig.reporter.step()
    (entry,) = await rig.memory.get_jobs("default", ["job"])
    assert entry.cursor.pause.why == "the endpoint is gone"


@pytest.mark.parametrize(
    ("in_hand", "apart"), [(CROWD, APART), (499, APART), (500, FAR_APART), (7000, FAR_APART)]
)
async def test_while_many_are_in_hand_writes_are_apart(rig, in_hand, apart):
    await ran(rig, count=1)
    await rig.reporter.step()
    await ran(rig, count=2, name="later")
    rig.reporter.in_hand = lambda: in_hand
    assert await rig.reporter.step() == pytest.approx(apart)
    assert rig.reporter.backlog == 2
    await rig.clock.advance(apart)
    assert await rig.reporter.step() == UNTIL_WOKEN
    assert [len(reports) for reports, _ in rig.store.named("finish")] == [1, 2]


@pytest.mark.parametrize(("count", "in_hand"), [(8, CROWD), (2, CROWD - 1)])
async def test_a_full_batch_and_the_last_of_few_are_written_at_once(count, in_hand):
    rig = Rig(batch=8)
    await ran(rig, count=1)
    await rig.reporter.step()
    await ran(rig, count=count, name="later")
    rig.reporter.in_hand = lambda: in_hand
    assert await rig.reporter.step() == UNTIL_WOKEN
    assert rig.reporter.backlog == 0


async def test_ends_of_many_that_start_at_one_instant_are_written_when_few_are_left():
    rig = Rig(capacity=CROWD // 2, lead=0.5, batch=100)
    rig.executor.hold("other")
    for handler in ("other", "quick"):
        job = await rig.add(handler, handler=handler)
        for _ in range(CROWD // 2):
            await rig.request(job, in_seconds=0.4)
    await rig.beat()
    await rig.worker.step()
    await rig.clock.advance(0.4)
    rig.executor.release("other")
    await rig.settle()
    assert rig.reporter.backlog == CROWD
    rig.reporter.in_hand = lambda: CROWD
    assert await rig.reporter.step() == APART
    rig.reporter.in_hand = lambda: CROWD - 1
    assert await rig.reporter.step() == UNTIL_WOKEN
    assert [len(reports) for reports, _ in rig.store.named("finish")] == [CROWD]


async def test_ends_are_held_for_no_longer_than_a_part_of_a_second(rig):
    await ran(rig, count=1)
    rig.reporter.in_hand = lambda: CROWD
    rig.runner.guard.put_starts_first(CROWD)
    assert await rig.reporter.step() == APART
    await rig.clock.advance(RESULTS_WAIT - APART / 2)
    assert await rig.reporter.step() == pytest.approx(APART / 2)
    await rig.clock.advance(APART / 2)
    assert await rig.reporter.step() == UNTIL_WOKEN


async def test_instants_that_follow_each_other_hold_no_end_any_longer(rig):
    await ran(rig, count=1)
    rig.reporter.in_hand = lambda: CROWD
    for _ in range(4):
        rig.runner.guard.put_starts_first(CROWD)
        assert await rig.reporter.step() == APART
        await rig.clock.advance(RESULTS_WAIT / 4)
    rig.runner.guard.put_starts_first(CROWD)
    assert await rig.reporter.step() == UNTIL_WOKEN
    assert [len(reports) for reports, _ in rig.store.named("finish")] == [1]


@pytest.mark.parametrize(
    ("starting", "ended", "written"),
    [(CROWD, 4 * RESULTS_BATCHES - 1, []), (CROWD, 4 * RESULTS_BATCHES, [4]), (CROWD - 1, 4, [4])],
)
async def test_no_more_ends_are_held_than_some_batches_and_none_of_few(starting, ended, written):
    rig = Rig(batch=4)
    await ran(rig, count=ended)
    rig.reporter.in_hand = lambda: CROWD
    rig.runner.guard.put_starts_first(starting)
    await rig.reporter.step()
    assert [len(reports) for reports, _ in rig.store.named("finish")] == written
