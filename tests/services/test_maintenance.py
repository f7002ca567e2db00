"""Maintenance windows: saved, replaced, ended and deleted, and what slots say of them."""

import pytest

from tests.services.conftest import TEN
from tickwell.clock import to_datetime
from tickwell.domain.execution import Reason
from tickwell.domain.maintenance import KEPT, MAINTENANCE_KIND, Closed
from tickwell.domain.planning import plan
from tickwell.domain.policy import DAY, HOUR, MINUTE, SECOND
from tickwell.domain.project_pause import EVERYTHING
from tickwell.domain.trigger import Calendar, Cron, Every, OnDemand
from tickwell.engine.planning.maintenance import read_windows
from tickwell.errors import InvalidInput, NotFound, WrongState
from tickwell.services.projects.maintenance import (
    MOST,
    MaintenanceWindowing,
    Schedule,
    WindowState,
)
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.slots.slots import Answer
from tickwell.services.time import After

SUNDAYS = Cron("0 2 * * sun", tz="Europe/Rome")
TWO_HOURS = Schedule(length=2 * HOUR)


@pytest.fixture
def windows(world):
    return MaintenanceWindowing(world.store, world.clock, world.wake)


async def fire(world, instant):
    """As a planner does that has read the windows."""
    world.clock.instant = instant
    closed = Closed(await read_windows(world.store, instant))
    await world.store.fire_due(
        instant,
        0,
        100,
        lambda job, cursor: plan(job, cursor, instant, 0, in_maintenance=closed.of(job)),
    )


async def put(windows, name="move", schedule=TWO_HOURS, project="default", **about):
    return (await windows.put(project, name, schedule, by="ann", **about))[1]


async def slots(world, since, until):
    page = await world.slots.read("default", "report", since, until)
    return [(slot.answer, slot.reason, slot.by, slot.why) for slot in page.items]


async def test_slots_say_which_window_they_are_in_before_and_after_it(world, windows):
    await world.jobs.add(world.job(Every("1h")))
    start = TEN + HOUR
    await put(windows, schedule=Schedule(start=start, end=start + 2 * HOUR), why="moving the disks")
    inside = (Answer.SKIPPED, Reason.MAINTENANCE, "ann", "move: moving the disks")
    coming = (Answer.UPCOMING, None, None, None)
    assert await slots(world, TEN + 1, TEN + 3 * HOUR + 1) == [inside, inside, coming]
    for hour in (1, 2, 3):
        await fire(world, TEN + hour * HOUR)
    ran = (Answer.EXECUTED, None)
    found = await slots(world, TEN + 1, TEN + 3 * HOUR + 1)
    assert found[:2] == [inside, inside]
    assert found[2][:2] == ran


async def test_what_was_planned_ahead_is_taken_back_at_once(world, windows):
    await world.jobs.add(world.job(Every("1s")))
    await world.at(TEN, horizon=2 * SECOND)
    woken = world.woken
    await put(windows, schedule=Schedule(length=HOUR))
    assert world.woken > woken
    found = await slots(world, TEN + 1, TEN + 2 * SECOND + 1)
    assert [each[:2] for each in found] == [(Answer.SKIPPED, Reason.MAINTENANCE)] * 2


async def test_it_is_planned_then_on_then_over_and_leaves_the_record_later(world, windows):
    start = TEN + HOUR
    await put(windows, schedule=Schedule(start=After(HOUR), length=HOUR))
    [planned] = await windows.list_for("default")
    assert (planned.state, planned.span.start, planned.span.end) == (
        WindowState.PLANNED,
        start,
        start + HOUR,
    )
    for instant, state in (
        (start - 1, WindowState.PLANNED),
        (start, WindowState.ON),
        (start + HOUR - 1, WindowState.ON),
        (start + HOUR, WindowState.OVER),
    ):
        world.clock.instant = instant
        assert [each.state for each in await windows.list_for("default")] == [state]
    world.clock.instant = start + HOUR + KEPT
    assert await windows.list_for("default") == []


async def test_one_that_is_ended_early_is_over_and_fires_go_on(world, windows):
    await world.jobs.add(world.job(Every("1h")))
    await put(windows, schedule=Schedule(length=4 * HOUR))
    await fire(world, TEN + HOUR)
    world.clock.instant = TEN + 90 * MINUTE
    before, after = await windows.end("default", "move")
    assert (before.ended_at, after.ended_at) == (None, TEN + 90 * MINUTE)
    assert [each.state for each in await windows.list_for("default")] == [WindowState.OVER]
    await fire(world, TEN + 2 * HOUR)
    found = await slots(world, TEN + 1, TEN + 2 * HOUR + 1)
    assert [each[0] for each in found] == [Answer.SKIPPED, Answer.EXECUTED]
    with pytest.raises(WrongState, match="not on"):
        await windows.end("default", "move")


async def test_a_recurring_one_that_is_ended_begins_again_at_its_next_time(world, windows):
    await put(windows, schedule=Schedule(trigger=SUNDAYS, length=2 * HOUR))
    [found] = await windows.list_for("default")
    first = found.span.start
    with pytest.raises(WrongState):
        await windows.end("default", "move")
    world.clock.instant = first + HOUR
    await windows.end("default", "move")
    [found] = await windows.list_for("default")
    assert (found.state, found.span.start) == (WindowState.PLANNED, first + 7 * DAY)
    world.clock.instant = first + 7 * DAY + HOUR
    [found] = await windows.list_for("default")
    assert (found.state, found.span.end) == (WindowState.ON, first + 7 * DAY + 2 * HOUR)


async def test_a_recurring_one_keeps_its_wall_time_when_clocks_change(world, windows):
    await put(windows, schedule=Schedule(trigger=Cron("30 0 * * *", tz="Europe/Rome"), length=HOUR))
    [window] = await read_windows(world.store, TEN)
    changes = 1_792_879_200_000  # 25 October 2026, 00:00 in Rome: 25 hours
    spans = [span.start for span, _ in zip(window.spans(changes), range(2), strict=False)]
    assert spans == [changes + 30 * MINUTE, changes + 25 * HOUR + 30 * MINUTE]


async def test_saved_again_it_is_replaced_and_what_it_was_is_told(world, windows):
    first = await put(windows, why="disks", tags=["db"])
    before, after = await windows.put(
        "default", "move", Schedule(start=TEN + DAY, length=HOUR), by="bob", queues=["slow"]
    )
    assert before == first
    assert (after.by, after.tags, after.queues, after.why) == ("bob", (), ("slow",), "")
    assert [each.window for each in await windows.list_for("default")] == [after]
    assert await windows.delete("default", "move") == after
    with pytest.raises(NotFound):
        await windows.delete("default", "move")
    with pytest.raises(NotFound):
        await windows.end("default", "move")


async def test_those_of_all_projects_are_listed_in_each_and_those_of_others_in_none(world, windows):
    await put(windows, "all", project=EVERYTHING)
    await put(windows, "own", Schedule(start=TEN + HOUR, length=HOUR))
    await put(windows, "other", project="other")
    assert [each.window.name for each in await windows.list_for("default")] == ["all", "own"]
    assert [each.window.name for each in await windows.list_for("other")] == ["all", "other"]


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (Schedule(), "end"),
        (Schedule(end=TEN + HOUR, length=HOUR), "end"),
        (Schedule(end=TEN), "end"),
        (Schedule(start=TEN + HOUR, end=TEN + HOUR), "end"),
        (Schedule(start=TEN - 2 * HOUR, length=HOUR), "end"),
        (Schedule(length=0), "length"),
        (Schedule(length=367 * DAY), "length"),
        (Schedule(trigger=SUNDAYS), "length"),
        (Schedule(trigger=SUNDAYS, start=TEN, length=HOUR), "start"),
        (Schedule(trigger=SUNDAYS, end=TEN + DAY, length=HOUR), "end"),
        (Schedule(trigger=OnDemand(), length=HOUR), "trigger"),
        (Schedule(trigger=Every("1d", after="finish"), length=HOUR), "trigger"),
        (Schedule(trigger=Every("1d", jitter="1m"), length=HOUR), "trigger"),
        (Schedule(trigger=Every("1d", max_runs=3), length=HOUR), "trigger"),
        (Schedule(trigger=Every("1d", until=to_datetime(TEN - DAY)), length=HOUR), "end"),
        (
            Schedule(
                trigger=Cron("0 2 * * *", exclude=[Calendar("it", ["2026-12-25"], version=1)]),
                length=HOUR,
            ),
            "trigger",
        ),
    ],
)
async def test_what_can_be_no_window_is_refused(world, windows, schedule, field):
    with pytest.raises(InvalidInput) as caught:
        await put(windows, schedule=schedule)
    assert caught.value.field == field
    assert await windows.list_for("default") == []


async def test_a_name_must_fit_an_address_and_there_is_an_end_to_their_number(world, windows):
    for name in ("", "a/b", "two words", "-x", "x" * 101):
        with pytest.raises(InvalidInput):
            await put(windows, name)
    for number in range(MOST):
        await put(windows, f"w{number}")
    with pytest.raises(InvalidInput, match="100"):
        await put(windows, "more")
    await put(windows, "w0", Schedule(length=HOUR))
    await put(windows, "more", project="other")
    world.clock.instant += 2 * HOUR
    await put(windows, "more")


async def test_two_who_end_it_at_once_end_it_once(world, windows, monkeypatch):
    await put(windows)
    world.clock.instant += MINUTE
    write = world.store.put_record
    raced: list = []

    async def put_record(record, now, expected_version=None):
        if record.kind == MAINTENANCE_KIND and not raced:
            raced.append(record)
            assert await write(record, now, expected_version)
        return await write(record, now, expected_version)

    monkeypatch.setattr(world.store, "put_record", put_record)
    with pytest.raises(WrongState):
        await windows.end("default", "move")
    [record] = await world.store.list_records(MAINTENANCE_KIND, PLATFORM, "", TEN)
    assert record.document["ended_at"] == TEN + MINUTE
