from dataclasses import replace

import pytest

from tests.unit.engine.rig import Rig
from tickwell.clock import to_datetime
from tickwell.domain.ability import call_ability, shared_ability
from tickwell.domain.event import Parked
from tickwell.domain.execution import State
from tickwell.domain.fairness import DELETED_KIND, PLATFORM_PROJECT, PROJECT_KIND
from tickwell.domain.job import JobState, Pause, PauseScope
from tickwell.domain.policy import Retention
from tickwell.domain.project_pause import SETTLES, Phase, ProjectPause
from tickwell.domain.trigger import Every, Once
from tickwell.domain.worker import Worker
from tickwell.engine.liveness.housekeeping import PAGES, Housekeeping
from tickwell.engine.planning.project_pauses import read_pauses, write_pause
from tickwell.ports.records import Record
from tickwell.testing.executors import FakeExecutor


@pytest.fixture
async def house(rig):
    await rig.beat()
    keeping = Housekeeping(rig.store, rig.clock, rig.events, rig.settings)

    async def run():
        await keeping.run(await rig.memory.list_workers())

    return run


async def test_what_no_live_worker_can_run_is_parked_once_it_is_overdue(rig, house):
    id = await rig.request(await rig.add(handler="unheard-of"))
    await house()
    assert await rig.state(id) is State.QUEUED
    await rig.clock.advance(rig.settings.sweep + 1)
    await house()
    one = await rig.one(id)
    assert (one.state, one.reason) == (State.PARKED, "no live worker knows handler 'unheard-of'")
    assert [(event.ability, event.executions) for event in rig.heard(Parked)] == [
        ("call:unheard-of", 1)
    ]


async def test_what_some_worker_can_run_is_left_in_the_queue(rig, house):
    id = await rig.request(await rig.add())
    await rig.clock.advance(600)
    await house()
    assert await rig.state(id) is State.QUEUED


async def test_a_worker_of_another_queue_is_no_help_and_the_queue_is_named(rig, house):
    id = await rig.request(await rig.add(queue="elsewhere"))
    await rig.clock.advance(60)
    await house()
    one = await rig.one(id)
    why = "no live worker serves queue 'elsewhere'"
    assert (one.state, one.reason) == (State.PARKED, why)
    (event,) = rig.heard(Parked)
    assert (event.queue, event.reason) == ("elsewhere", why)


async def test_a_queue_whose_workers_do_not_know_the_handler_is_named(rig, house):
    other = Rig(clock=rig.clock, memory=rig.memory, executor=FakeExecutor("mail"), seed=2)
    other.engine.settings = replace(other.settings, queues=("mail",))
    await other.beat()
    id = await rig.request(await rig.add(handler="mail"))
    await rig.clock.advance(60)
    await house()
    assert (await rig.one(id)).reason == "no live worker of queue 'default' knows handler 'mail'"


async def test_a_handler_of_another_project_is_as_good_as_unknown(rig, house):
    await rig.memory.beat(
        Worker(
            id="theirs",
            host="",
            pid=1,
            queues=("default",),
            abilities=(call_ability("shop", "mail"), shared_ability("post")),
            capacity=1,
            started_at=0,
        ),
        rig.clock.now(),
    )
    jobs = {
        name: await rig.add(name, handler=handler, project=project)
        for name, project, handler in [
            ("mine", "blog", "mail"),
            ("unknown", "blog", "nothing"),
            ("theirs", "shop", "mail"),
            ("shared", "blog", "post"),
        ]
    }
    ids = {name: await rig.request(job) for name, job in jobs.items()}
    await rig.clock.advance(60)
    await house()
    found = {name: rig.memory.tables.rows[id].execution for name, id in ids.items()}
    assert {name: one.reason for name, one in found.items()} == {
        "mine": "no live worker knows handler 'mail'",
        "unknown": "no live worker knows handler 'nothing'",
        "theirs": None,
        "shared": None,
    }


async def test_a_lost_worker_can_run_nothing(rig, house):
    id = await rig.request(await rig.add())
    rig.memory.tables.workers[rig.worker.id].lost = True
    await rig.clock.advance(60)
    await house()
    assert await rig.state(id) is State.PARKED


async def test_what_is_parked_goes_on_when_a_worker_appears_that_knows_it(rig, house):
    id = await rig.request(await rig.add(handler="new"))
    await rig.clock.advance(60)
    await house()
    other = Rig(clock=rig.clock, memory=rig.memory, executor=FakeExecutor("new"), seed=2)
    await other.beat()
    await house()
    assert await rig.state(id) is State.WAITING
    await rig.memory.promote(rig.clock.now(), 0, 10)
    assert await rig.state(id) is State.QUEUED


async def test_what_is_parked_goes_on_though_more_than_a_round_reads_is_newer():
    rig = Rig(batch=1)
    keeping = Housekeeping(rig.store, rig.clock, rig.events, rig.settings)
    old = await rig.request(await rig.add("old", handler="new"))
    gone = await rig.add("gone", handler="gone")
    for _ in range(PAGES + 1):
        await rig.clock.advance(1)
        await rig.request(gone)
    await rig.clock.advance(60)
    await keeping.run([])
    assert await rig.states() == [State.PARKED] * (PAGES + 2)
    other = Rig(clock=rig.clock, memory=rig.memory, executor=FakeExecutor("new"), seed=2)
    await other.beat()
    looks = len(rig.store.named("list_executions"))
    for _ in range(2):
        await keeping.run(await rig.memory.list_workers())
    assert await rig.state(old) is State.WAITING
    assert len(rig.store.named("list_executions")) - looks <= 2 * (PAGES + 1)


async def test_what_is_parked_anew_is_seen_once_the_old_has_been_looked_through(rig, house):
    for name in ("first", "second"):
        id = await rig.request(await rig.add(name, handler=name))
        await rig.clock.advance(60)
        await house()
        other = Rig(clock=rig.clock, memory=rig.memory, executor=FakeExecutor(name), seed=id)
        await other.beat()
        await house()
        assert await rig.state(id) is State.WAITING


async def test_a_finished_job_is_removed_when_nothing_of_it_is_live(rig, house):
    at = to_datetime(rig.clock.now() + 1000)
    job = await rig.add(trigger=Once(at), auto_remove=True)
    kept = await rig.add("kept", trigger=Once(at))
    await rig.engine._loops["planner"].service.step()
    await house()
    assert (await state_of(rig, job), await state_of(rig, kept)) == (JobState.FINISHED,) * 2
    await rig.clock.advance(rig.settings.sweep)
    await house()
    assert await state_of(rig, job) is JobState.FINISHED  # its run is still to come
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()
    await house()  # the next sweep, not the next pruning
    assert await state_of(rig, job) is JobState.DELETED
    assert await state_of(rig, kept) is JobState.FINISHED


async def state_of(rig, job):
    (entry,) = await rig.memory.get_jobs("default", [job.id])
    return entry.cursor.state


async def test_old_history_is_pruned_batch_by_batch_and_not_at_every_sweep():
    rig = Rig(batch=2)
    job = await rig.add(retention=Retention(count=1))
    await rig.beat()
    for _ in range(6):
        await rig.request(job)
    for _ in range(4):
        await rig.worker.step()
        await rig.settle()
        await rig.reporter.step()
        await rig.reporter.step()
    assert len(await rig.states()) == 6
    keeping = Housekeeping(rig.store, rig.clock, rig.events, rig.settings)
    await keeping.run(await rig.memory.list_workers())
    assert len(await rig.states()) == 1
    prunes = len(rig.store.named("prune"))
    await keeping.run(await rig.memory.list_workers())
    assert len(rig.store.named("prune")) == prunes


async def test_a_round_prunes_so_much_and_the_next_one_goes_on(rig, monkeypatch):
    left = [3] * (PAGES + 2)

    async def prune(now, limit):
        return left.pop() if left else 0

    monkeypatch.setattr(rig.memory, "prune", prune)
    keeping = Housekeeping(rig.memory, rig.clock, rig.events, rig.settings)
    await keeping.run([])
    assert len(left) == 2
    await keeping.run([])
    assert left == []


@pytest.mark.parametrize(("deleted_at", "state"), [(1, JobState.DELETED), (None, JobState.ACTIVE)])
async def test_what_was_added_to_a_project_while_it_was_deleted_goes(rig, house, deleted_at, state):
    for kind, document in ((PROJECT_KIND, {"deleted_at": deleted_at}), (DELETED_KIND, {})):
        record = Record(kind=kind, project=PLATFORM_PROJECT, key="acme", document=document)
        await rig.memory.put_record(record, rig.clock.now())
    late = await rig.add("late", project="acme", trigger=Every("1h"))
    other = await rig.add("other", trigger=Every("1h"))
    await house()
    (late, other) = [await rig.memory.get_jobs(one.project, [one.id]) for one in (late, other)]
    assert [entry.cursor.state for entry in late + other] == [state, JobState.ACTIVE]


async def test_a_pause_of_a_project_that_was_broken_off_is_completed(rig, house):
    await rig.add("report", trigger=Every("1m"))
    begun = rig.clock.now()
    note = Pause(by="ann", why="", since=begun, scope=PauseScope.PROJECT)
    pause = ProjectPause(project="default", pause=note)
    await write_pause(rig.memory, pause, begun)
    await rig.clock.advance(SETTLES / 1000)
    await house()
    [entry] = await rig.memory.get_jobs("default", ["report"])
    assert entry.cursor.pause == note
    ended = replace(pause, phase=Phase.ENDING, ended_at=rig.clock.now())
    await write_pause(rig.memory, ended, rig.clock.now())
    await rig.clock.advance(SETTLES / 1000)
    await house()
    [entry] = await rig.memory.get_jobs("default", ["report"])
    assert entry.cursor.state is JobState.ACTIVE
    assert await read_pauses(rig.memory, rig.clock.now()) == []
