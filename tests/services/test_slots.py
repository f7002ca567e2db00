"""Every nominal fire time has an answer, by the version that was in force."""

import asyncio
from dataclasses import replace

import pytest

from tickwell.clock import to_datetime
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import DAY, HOUR, MINUTE, SECOND, Misfire, OnMisfire, Retention
from tickwell.domain.trigger import Calendar, Cron, Every, Once, Window
from tickwell.errors import InvalidInput, NotFound
from tickwell.services.executions.dead_letters import DeadFilter, DeadLetters
from tickwell.services.slots import slots as slots_module
from tickwell.services.slots.slots import Answer

TEN = 1_781_517_600_000
SKIP = Misfire(policy=OnMisfire.SKIP)


async def read(world, since=TEN, until=TEN + 10 * MINUTE, key="report"):
    page = await world.slots.read("default", key, since, until)
    return [((slot.fire_time - TEN) / MINUTE, str(slot.answer), slot.reason) for slot in page.items]


async def test_executed_skipped_and_upcoming(world):
    await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW, misfire=SKIP))
    await world.at(TEN + 2 * MINUTE)
    await world.at(TEN + 3 * MINUTE)
    await world.run()
    await world.at(TEN + 4 * MINUTE + 58 * SECOND, horizon=2 * SECOND)
    page = await world.slots.read("default", "report", TEN, TEN + 7 * MINUTE)
    assert [(slot.fire_time, slot.answer, slot.reason, slot.state) for slot in page.items] == [
        (TEN + MINUTE, Answer.SKIPPED, "misfire", None),
        (TEN + 2 * MINUTE, Answer.EXECUTED, None, State.SUCCEEDED),
        (TEN + 3 * MINUTE, Answer.EXECUTED, None, State.SUCCEEDED),
        (TEN + 4 * MINUTE, Answer.SKIPPED, "misfire", None),
        (TEN + 5 * MINUTE, Answer.UPCOMING, None, State.QUEUED),
        (TEN + 6 * MINUTE, Answer.UPCOMING, None, None),
    ]
    assert page.items[1].execution_id
    assert page.next is None


async def test_overlap_is_a_row_with_its_reason(world):
    await world.jobs.add(world.job(Every("1m")))
    await world.at(TEN + MINUTE)
    await world.at(TEN + 2 * MINUTE)
    assert (await read(world, until=TEN + 3 * MINUTE)) == [
        (1, "executed", None),
        (2, "skipped", "overlap"),
    ]


async def test_what_was_purged_was_not_missed(world):
    await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW))
    for minute in (1, 2):
        await world.at(TEN + minute * MINUTE)
        await world.run(OutcomeKind.FAILED, error="no", retry=False)
    dead = DeadLetters(world.store, world.clock, world.wake)
    since = DeadFilter(since=TEN + 2 * MINUTE)
    assert await dead.purge_matching("default", since, 100) == (1, False)
    assert (await read(world, until=TEN + 3 * MINUTE)) == [
        (1, "executed", "not to be retried"),
        (2, "pruned", None),
    ]


@pytest.mark.parametrize("within", [(), (Window("mon", "09:00", "09:01"),)], ids=["fires", "none"])
async def test_others_have_their_turn_while_many_are_read(world, within):
    await world.jobs.add(world.job(Cron("* * * * * *", within=within)))
    turns = 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    await world.executions.backfill("default", "report", TEN - DAY, TEN, dry_run=True)
    beside.cancel()
    assert turns > slots_module.LIMIT / 500


async def test_nobody_answered(world):
    await world.jobs.add(world.job(Every("1m")))
    world.clock.instant = TEN + 2 * MINUTE
    assert (await read(world, until=TEN + 4 * MINUTE)) == [
        (1, "unanswered", None),
        (2, "unanswered", None),
        (3, "upcoming", None),
    ]


async def test_a_pause_now_and_afterwards(world):
    await world.jobs.add(world.job(Every("1m")))
    await world.jobs.pause("default", ["report"], by="ann", until=TEN + 3 * MINUTE)
    world.clock.instant = TEN + MINUTE
    during = await read(world, until=TEN + 5 * MINUTE)
    assert during == [
        (1, "paused", None),
        (2, "paused", None),
        (3, "upcoming", None),
        (4, "upcoming", None),
    ]
    await world.at(TEN + 3 * MINUTE)
    after = await read(world, until=TEN + 4 * MINUTE)
    assert after == [
        (1, "skipped", "paused"),
        (2, "skipped", "paused"),
        (3, "executed", None),
    ]


async def test_each_version_answers_for_its_time(world):
    await world.jobs.add(world.job(Every("2m"), overlap=Overlap.ALLOW))
    await world.at(TEN + 2 * MINUTE)
    await world.at(TEN + 4 * MINUTE)
    await world.jobs.edit("default", "report", world.job(Every("1m"), overlap=Overlap.ALLOW))
    await world.at(TEN + 5 * MINUTE)
    await world.jobs.edit("default", "report", world.job(Every("4m"), overlap=Overlap.ALLOW))
    await world.at(TEN + 8 * MINUTE)
    assert [at for at, answer, _ in await read(world) if answer == "executed"] == [2, 4, 5, 8]
    assert len(await read(world)) == 4


async def test_a_fire_at_the_instant_of_the_edit_belongs_to_the_old_version(world):
    await world.jobs.add(world.job(Every("2m")))
    world.clock.instant = TEN + 2 * MINUTE
    await world.jobs.edit("default", "report", world.job(Every("7m")))
    assert await read(world, until=TEN + 3 * MINUTE) == [(2, "executed", None)]


async def test_windows_and_calendars_are_named_without_rows(world):
    trigger = Cron(
        "*/30 * * * *",
        within=(Window(opens="10:00", closes="11:10"),),
        exclude=(Calendar("holiday", ["2026-06-16"]),),
    )
    await world.jobs.add(world.job(trigger))
    day = await read(world, until=TEN + 2 * HOUR)
    assert [(at, answer, reason) for at, answer, reason in day if at] == [
        (30, "upcoming", None),
        (60, "upcoming", None),
        (90, "excluded", "window"),
    ]
    next_day = await read(world, since=TEN + DAY, until=TEN + DAY + MINUTE)
    assert next_day == [(DAY / MINUTE, "excluded", "calendar:holiday")]


async def test_what_ran_out_is_no_slot(world):
    await world.jobs.add(world.job(Every("1m", max_runs=2), overlap=Overlap.ALLOW))
    await world.at(TEN + MINUTE)
    await world.at(TEN + 2 * MINUTE)
    await world.at(TEN + 5 * MINUTE)
    assert [at for at, *_ in await read(world)] == [1, 2]
    await world.jobs.edit("default", "report", world.job(Every("3m"), overlap=Overlap.ALLOW))
    assert [at for at, *_ in await read(world)] == [1, 2, 6, 9]


async def test_a_deleted_job_keeps_its_slots_by_id(world):
    entry = await world.jobs.add(world.job(Every("1m")))
    await world.at(TEN + MINUTE)
    await world.jobs.delete("default", ["report"])
    world.clock.instant = TEN + HOUR
    (slot,) = (await world.slots.read("default", entry.job.id, TEN, TEN + HOUR)).items
    assert slot.fire_time == TEN + MINUTE


async def test_once_within_the_grace(world):
    await world.jobs.add(world.job(Once(to_datetime(TEN - 5 * SECOND))))
    await world.at(TEN)
    assert await read(world, since=TEN - MINUTE) == [(-5 / 60, "executed", None)]


async def test_runs_counted_from_the_end(world):
    await world.jobs.add(world.job(Every("2m", after="finish")))
    await world.at(TEN + 2 * MINUTE)
    world.clock.instant = TEN + 3 * MINUTE
    await world.run()
    await world.at(TEN + 3 * MINUTE)
    assert await read(world) == [(2, "executed", None), (5, "upcoming", None)]


async def test_pruned_history_is_not_a_missed_fire(world):
    kept = Retention(count=2)
    await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW, retention=kept))
    for minute in range(1, 5):
        await world.at(TEN + minute * MINUTE)
        await world.run()
    while await world.store.prune(TEN + 4 * MINUTE, 100):
        pass
    assert [answer for _, answer, _ in await read(world, until=TEN + 5 * MINUTE)] == [
        "pruned",
        "pruned",
        "executed",
        "executed",
    ]


async def test_what_was_pruned_stays_pruned_when_more_is_kept_later(world):
    job = world.job(Every("1m"), overlap=Overlap.ALLOW, retention=Retention(count=2))
    await world.jobs.add(job)
    for minute in range(1, 5):
        await world.at(TEN + minute * MINUTE)
        await world.run()
    while await world.store.prune(TEN + 4 * MINUTE, 100):
        pass
    await world.jobs.edit("default", "report", replace(job, retention=Retention()))
    await world.at(TEN + 5 * MINUTE)
    await world.run()
    answers = [answer for _, answer, _ in await read(world, until=TEN + 6 * MINUTE)]
    assert answers == ["pruned", "pruned", "executed", "executed", "executed"]
    done = await world.executions.backfill("default", "report", TEN + 1, TEN + 6 * MINUTE)
    assert (done.ids, done.left_alone) == ([], 5)


async def test_a_dead_letter_that_was_pruned_early_was_not_missed(world):
    kept = Retention(dead="5m")
    await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW, retention=kept))
    await world.at(TEN + MINUTE)
    await world.run(OutcomeKind.FAILED, error="no", retry=False)
    await world.jobs.pause("default", ["report"], by="ann")
    world.clock.instant = TEN + 7 * MINUTE
    assert await world.store.prune(world.clock.now(), 100) == 1
    assert await read(world, until=TEN + 2 * MINUTE) == [(1, "pruned", None)]


async def test_no_more_is_to_come_than_there_are_runs(world):
    await world.jobs.add(world.job(Every("1m", max_runs=3), overlap=Overlap.ALLOW))
    await world.at(TEN + MINUTE)
    expected = [(1, "executed", None), (2, "upcoming", None), (3, "upcoming", None)]
    assert await read(world) == expected
    assert await read(world, since=TEN + 3 * MINUTE) == expected[2:]


async def test_too_many_are_cut_and_read_on(world, monkeypatch):
    monkeypatch.setattr(slots_module, "LIMIT", 4)
    await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW))
    since, seen, pages = TEN, [], 0
    while since is not None:
        page = await world.slots.read("default", "report", since, TEN + 10 * MINUTE)
        assert len(page.items) <= 4
        seen += [slot.fire_time for slot in page.items]
        since, pages = page.next, pages + 1
    assert seen == [TEN + minute * MINUTE for minute in range(1, 10)]
    assert pages == 3


async def test_completeness_in_one_line(world):
    await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW, misfire=SKIP))
    for minute in (1, 2, 3, 6):
        await world.at(TEN + minute * MINUTE)
        await world.run()
    await world.jobs.pause("default", ["report"], by="ann")
    world.clock.instant = TEN + 8 * MINUTE
    counted = await world.slots.completeness("default", "report", TEN, TEN + HOUR)
    assert str(counted) == "8 due, 4 ran, 2 skipped: misfire, 2 skipped: paused"
    assert counted.unanswered == 0
    assert counted.next is None


async def test_what_cannot_be_asked(world):
    with pytest.raises(NotFound):
        await world.slots.read("default", "nothing", TEN, TEN + 1)
    await world.jobs.add(world.job(Every("1m")))
    with pytest.raises(NotFound):
        await world.slots.read("other", "report", TEN, TEN + 1)
    with pytest.raises(InvalidInput):
        await world.slots.read("default", "report", TEN, TEN)


async def test_what_a_pruned_range_answered_is_said_to_be_pruned(world):
    await world.jobs.add(world.job(Every("1m"), misfire=SKIP, retention=Retention(age="1h")))
    await world.at(TEN + 3 * MINUTE)
    await world.at(TEN + 63 * MINUTE)
    assert await world.store.prune(world.clock.now(), 100) == 1
    assert await read(world, until=TEN + 4 * MINUTE) == [
        (1, "pruned", None),
        (2, "pruned", None),
        (3, "executed", None),
    ]
