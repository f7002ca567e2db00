"""A process dies at any of its writes: another finishes or undoes what it began, never half."""

from contextlib import suppress
from dataclasses import replace

import pytest

from tests.servers.mongo import empty
from tests.stores.mongo.cutting import Killed, Knife
from tickwell.domain.change import delete, edit, pause
from tickwell.domain.execution import State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import DAY, MINUTE, Retention
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import VersionConflict
from tickwell.stores.mongo import MongoStore
from tickwell.testing.contract import snapshot
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene

END = T0 + 30 * DAY


class Story:
    """What was there before, and one call in which the process dies."""

    def __init__(self, name, before, call):
        self.name = name
        self.before = before
        self.call = call


def story(before):
    def named(call):
        STORIES.append(Story(call.__name__, before, call))
        return call

    return named


STORIES: list[Story] = []
JOB = a_job("job", trigger=Every("1m"))
KEYED = a_job("keyed", trigger=OnDemand(), concurrency=Concurrency("k", 1))
POLITE = a_job("polite", trigger=OnDemand())
RUNS = [a_request(POLITE, T0 + n, overlap=Overlap.QUEUE_ALL) for n in range(3)]
KEYED_RUNS = [a_request(KEYED, T0 + n) for n in range(3)]
PLAIN_RUN = a_request(JOB, T0)
AFTER = a_job("after", trigger=Every("1m", after="finish"))


async def one_job(scene):
    await scene.add(JOB)


async def fired(scene):
    await one_job(scene)
    await scene.fire(minute(1), horizon=MINUTE)


async def in_line(scene):
    await scene.add(POLITE)
    await scene.run(*RUNS, now=T0 + 3)


async def claimed(scene):
    await in_line(scene)
    return await scene.claim(T0 + 3)


async def keyed(scene):
    await scene.add(KEYED)
    await scene.run(*KEYED_RUNS, now=T0 + 3)


async def keyed_and_claimed(scene):
    await keyed(scene)
    return await scene.claim(T0 + 3)


async def running(scene):
    await one_job(scene)
    await scene.fire(minute(1))
    return await scene.claim(minute(1))


async def running_with_another_before_the_gate(scene):
    await fired(scene)
    return await scene.claim(minute(1))


async def counting_from_the_end(scene):
    await scene.add(AFTER)
    await scene.fire(minute(1))
    return await scene.claim(minute(1))


async def dead(scene):
    claims = await running(scene)
    await scene.fail(claims, minute(1), retry=False)


async def old(scene):
    await scene.add(replace(JOB, retention=Retention(age="1m")))
    await scene.fire(minute(1))
    await scene.succeed(await scene.claim(minute(1)), minute(1))


@story(one_job)
async def fire(scene, _):
    await scene.fire(minute(3), horizon=MINUTE)


@story(keyed)
async def add_runs_of_several_jobs(scene, _):
    await scene.add(JOB, POLITE)
    await scene.run(RUNS[0], KEYED_RUNS[0], PLAIN_RUN, now=T0 + 3)


@story(one_job)
async def add_runs_with_a_key(scene, _):
    await scene.add(KEYED)
    await scene.run(*KEYED_RUNS, now=T0 + 3)


@story(one_job)
async def add_jobs_together(scene, _):
    await scene.add(KEYED, POLITE, AFTER)


@story(claimed)
async def pass_the_jobs_permit_on(scene, claims):
    await scene.succeed(claims, T0 + 4)


@story(running_with_another_before_the_gate)
async def pass_the_jobs_permit_on_to_the_next_fire(scene, claims):
    await scene.succeed(claims, minute(1) + 5)


@story(running)
async def leave_the_gate(scene, claims):
    await scene.succeed(claims, minute(1) + 5)


@story(keyed_and_claimed)
async def pass_a_keys_permit_on(scene, claims):
    await scene.succeed(claims, T0 + 4)


@story(keyed_and_claimed)
async def try_again_and_let_another_in(scene, claims):
    await scene.fail(claims, T0 + 4)


@story(counting_from_the_end)
async def count_from_the_end(scene, claims):
    await scene.succeed(claims, minute(1) + 5)


@story(fired)
async def pause_it(scene, _):
    await scene.change(JOB, pause("ann", "why"), minute(1))


@story(fired)
async def edit_it(scene, _):
    with suppress(VersionConflict):  # it happened the first time
        await scene.change(JOB, edit(replace(JOB, trigger=Every("2m")), 1), minute(1))


@story(in_line)
async def delete_it(scene, _):
    await scene.change(POLITE, delete(), T0 + 4)


@story(fired)
async def cancel(scene, _):
    ids = [one.id for one in await scene.executions(JOB)]
    await scene.store.request_cancel("default", ids, minute(1))


@story(in_line)
async def settle(scene, _):
    await scene.settle([run.id for run in RUNS[:2]], State.CANCELLED, T0 + 4)


@story(dead)
async def revive(scene, _):
    ids = [one.id for one in await scene.executions(JOB)]
    await scene.store.revive("default", ids, minute(2))


@story(old)
async def prune(scene, _):
    await scene.store.prune(T0 + DAY, 100)


def seen(shot):
    """What people see; workers beat while others repair."""
    return {name: part for name, part in shot.items() if name != "workers"}


async def begin(place, one):
    empty(place)
    store = MongoStore.from_url(place)
    await store.open()
    scene = Scene(store)
    return store, scene, await one.before(scene)


@pytest.mark.parametrize("one", STORIES, ids=lambda one: one.name)
@pytest.mark.parametrize("answered", [False, True], ids=["unsent", "unanswered"])
async def test_it_happened_or_it_did_not(place, one, answered):
    store, scene, given = await begin(place, one)
    before = seen(await snapshot(store, END))
    await one.call(scene, given)
    after = seen(await snapshot(store, END))
    assert before != after
    await store.close()
    for number in range(1, 100):
        store, scene, given = await begin(place, one)
        knife = Knife(number, answered=answered)
        knife.put_to(store)
        try:
            await one.call(scene, given)
        except Killed:
            pass
        else:
            break
        finally:
            await store.close()
        heir = MongoStore.from_url(place)
        heir.sweeper.patience = 0.0
        await heir.open()
        await heir.orphans(T0, 1)
        left = seen(await snapshot(heir, END))
        if one.name not in SEVERAL:
            assert left in (before, after), number
        await one.call(Scene(heir), given)
        assert seen(await snapshot(heir, END)) == after, number
        await heir.close()
    assert 1 < number < 100


#: Calls that are made of several, each of which happens or does not.
SEVERAL = {"add_runs_of_several_jobs", "add_runs_with_a_key"}


async def test_a_gate_that_nobody_holds_is_given_on(place):
    """The one who took a place died before saying so, and what it took it for was cancelled."""
    empty(place)
    store = MongoStore.from_url(place)
    await store.open()
    scene = Scene(store)
    await scene.add(KEYED)
    ids = await scene.run(*KEYED_RUNS, now=T0 + 3)
    await store.client.database.gates.update_one(
        {"_id": "default/k"}, {"$set": {"holders": [f"{ids[2]}#77"]}}
    )
    await scene.settle([ids[0]], State.CANCELLED, T0 + 4)
    assert (await scene.execution(ids[1])).state is State.BLOCKED
    store.sweeper.patience = 0.0
    await store.orphans(T0, 1)
    assert (await scene.execution(ids[1])).state is State.QUEUED
    await store.close()
