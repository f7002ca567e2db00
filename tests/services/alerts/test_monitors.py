"""Monitors that are down: told once, resolved by the next success."""

import random

import pytest

from tests.services.alerts.watch import PROJECT
from tickwell.domain.event import Events
from tickwell.domain.policy import HOUR, MINUTE
from tickwell.domain.trigger import Cron
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.monitors.check_in import CheckIn, Signal
from tickwell.services.monitors.check_ins import CheckIns
from tickwell.services.monitors.definition import monitor_job
from tickwell.services.operations import OperationContext, Operations

GRACE = 5 * MINUTE


@pytest.fixture
async def outside(watch):
    """A monitor, and what takes its pings."""
    context = OperationContext(
        store=watch.store, clock=watch.clock, random=random.Random(4), wake=watch.wake
    )
    actor = Actor(name="ada", project=PROJECT, permissions=frozenset(Permission))
    made = await Operations.over(context).monitors.create(
        actor, "backup", Cron("0 * * * *"), grace=GRACE
    )
    events = Events()
    events.subscribe(watch.evaluator.hear)
    check_ins = CheckIns(watch.store, watch.clock, random.Random(5), wake=watch.wake, events=events)

    async def ping(signal=Signal.SUCCESS):
        entry = await check_ins.find(PROJECT, made.monitor.entry.job.id)
        assert entry is not None
        await check_ins.take(entry, CheckIn(signal=signal))

    return ping


async def test_a_check_in_that_does_not_come_is_told_within_two_looks(watch, outside):
    told = await watch.channel()
    await watch.look()
    await watch.at(watch.clock.instant // HOUR * HOUR + HOUR)
    await outside()
    await watch.look(2)
    await watch.at(watch.clock.instant // HOUR * HOUR + HOUR)
    await watch.at(watch.clock.instant + GRACE - 1)
    await watch.look(1)
    assert await watch.told(told, "monitors") == []
    await watch.at(watch.clock.instant + 1)
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "backup")]
    (message,) = [each for each in await watch.messages(told) if each["data"]["rule"] == "monitors"]
    assert message["data"]["alerts"][0]["text"] == "no check-in within its grace"
    await outside()
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "backup"), ("resolved", "backup")]


async def test_a_failure_is_told_at_once(watch, outside):
    told = await watch.channel()
    await watch.look()
    await outside(Signal.FAIL)
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "backup")]


async def test_a_failure_that_the_evaluator_has_not_heard_of_is_told_when_it_looks(watch, outside):
    told = await watch.channel()
    await outside(Signal.FAIL)
    watch.evaluator = watch.another()
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "backup")]


async def test_a_start_is_no_success(watch, outside):
    told = await watch.channel()
    await outside(Signal.FAIL)
    await watch.look(2)
    await outside(Signal.START)
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "backup")]
    await outside()
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "backup"), ("resolved", "backup")]


async def test_one_without_a_ping_url_is_watched_as_well(watch):
    told = await watch.channel()
    hour = watch.clock.instant // HOUR * HOUR + HOUR
    await watch.jobs.add(monitor_job("applied", Cron("0 * * * *"), GRACE))
    await watch.look()
    await watch.at(hour)
    await watch.at(hour + GRACE)
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "applied")]


@pytest.mark.parametrize("dies", [False, True], ids=["stays", "dies"])
async def test_a_clock_that_was_set_back_delays_no_alert(watch, outside, dies):
    told = await watch.channel()
    hour = watch.clock.instant // HOUR * HOUR + HOUR
    watch.clock.instant += 30 * HOUR
    await watch.look()
    watch.clock.instant -= 30 * HOUR
    await watch.at(hour)
    await watch.at(hour + GRACE)
    if dies:
        watch.evaluator = watch.another()
    await watch.look(2)
    assert await watch.told(told, "monitors") == [("firing", "backup")]


async def test_one_that_was_paused_is_not_told(watch, outside):
    told = await watch.channel()
    await outside(Signal.FAIL)
    job = (await watch.jobs.get(PROJECT, "backup")).job
    await watch.jobs.pause(PROJECT, [job.id], by="ada")
    await watch.look(2)
    assert await watch.told(told, "monitors") == []
