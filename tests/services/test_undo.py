"""A pause or a resumption of many is taken back, once, and only what it changed."""

import random

import pytest

from tickwell.domain.job import JobState
from tickwell.domain.policy import HOUR, MINUTE
from tickwell.domain.trigger import Every
from tickwell.errors import NotFound
from tickwell.ports.records import JobFilter
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations import OperationContext, Operations

ADA = Actor(name="user:ada", project="default", permissions=frozenset(Permission))
ALL = JobFilter()


@pytest.fixture
async def operations(world):
    """Three jobs, the last of them paused by somebody before."""
    operation_context = OperationContext(
        store=world.store, clock=world.clock, random=random.Random(1), wake=world.wake
    )
    found = Operations.over(operation_context)
    for name in "abc":
        await world.jobs.add(world.job(Every("1h"), name))
    await found.jobs.pause(ADA, "c", why="moved", until=world.clock.now() + HOUR)
    return found


async def states(world):
    return [entry.cursor.state for entry in await world.store.get_jobs("default", list("abc"))]


async def test_a_pause_is_undone_for_those_it_paused(world, operations):
    done = await operations.bulk.pause(ADA, ALL, dry_run=False)
    id = await operations.undo.keep(ADA, done)
    assert await states(world) == [JobState.PAUSED] * 3
    assert await operations.undo.undo(ADA, id) == 2
    assert await states(world) == [JobState.ACTIVE, JobState.ACTIVE, JobState.PAUSED]
    with pytest.raises(NotFound):
        await operations.undo.undo(ADA, id)


async def test_a_resumption_is_undone_with_the_reason_that_there_was(world, operations):
    done = await operations.bulk.resume(ADA, ALL, dry_run=False)
    id = await operations.undo.keep(ADA, done)
    assert await states(world) == [JobState.ACTIVE] * 3
    assert await operations.undo.undo(ADA, id) == 1
    pause = (await operations.jobs.get(ADA, "c")).cursor.pause
    assert (pause.why, pause.until) == ("moved", world.clock.now() + HOUR)


async def test_a_pause_that_would_have_ended_is_not_begun_again(world, operations):
    await operations.jobs.pause(ADA, "a", until=world.clock.now() + MINUTE)
    done = await operations.bulk.resume(ADA, ["a"], dry_run=False)
    id = await operations.undo.keep(ADA, done)
    world.clock.instant += 2 * MINUTE
    assert await operations.undo.undo(ADA, id) == 0


async def test_nothing_changed_is_nothing_to_undo_and_ten_minutes_are_enough(world, operations):
    none = await operations.bulk.resume(ADA, ["a"], dry_run=False)
    assert await operations.undo.keep(ADA, none) is None
    id = await operations.undo.keep(ADA, await operations.bulk.pause(ADA, ["a"], dry_run=False))
    world.clock.instant += 10 * MINUTE
    with pytest.raises(NotFound):
        await operations.undo.undo(ADA, id)


async def test_another_project_cannot_undo_it(world, operations):
    id = await operations.undo.keep(ADA, await operations.bulk.pause(ADA, ["a"], dry_run=False))
    eve = Actor(name="user:eve", project="other", permissions=frozenset(Permission))
    with pytest.raises(NotFound):
        await operations.undo.undo(eve, id)
