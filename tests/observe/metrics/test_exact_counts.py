"""Counters agree with the record, also where no attempt and no planner tells of an end."""

from collections import Counter

import pytest

from tests.observe.metrics.reports import values_of
from tests.unit.engine.rig import Rig
from tickwell import OnDemand
from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.trigger import Every
from tickwell.observe.metrics.counting import Counting
from tickwell.observe.metrics.series import Series


def counted(metrics, name):
    found = values_of(metrics.series)
    return {key[1:]: count for key, count in found.items() if key[0] == name}


@pytest.fixture
def cancelled(tickwell):
    """The counter of cancelled executions, by queue."""
    metrics = tickwell.scheduler.metrics()

    def read():
        found = counted(metrics, "tickwell_executions_total")
        return {queue: n for (state, queue), n in found.items() if state == "cancelled"}

    return read


async def test_cancelled_before_the_start_is_counted(tickwell, cancelled):
    scheduler = tickwell.scheduler

    @tickwell.job(OnDemand(), queue="mail")
    async def send() -> None: ...

    ids = [(await send.trigger_in("1h")).id for _ in range(3)]
    await scheduler.cancel(ids[0])
    await scheduler.cancel(ids[1])
    assert cancelled() == {"mail": 2}


async def test_what_ends_with_its_job_is_counted(tickwell, cancelled):
    scheduler = tickwell.scheduler

    @tickwell.job(OnDemand(), queue="mail")
    async def send() -> None: ...

    ids = [(await send.trigger_in("1h")).id for _ in range(3)]
    await scheduler.cancel(ids[0])
    await scheduler.delete_job("send")
    assert cancelled() == {"mail": 3}


@pytest.mark.parametrize(
    ("overlap", "skipped"),
    [
        (Overlap.SKIP, 5),
        (Overlap.QUEUE_ONE, 4),
        (Overlap.QUEUE_ALL, 0),
        (Overlap.CANCEL_RUNNING, 4),
    ],
)
async def test_fires_that_are_planned_late_and_find_their_gate_busy_are_counted(overlap, skipped):
    rig, counting = Rig(), Counting(Series())
    rig.events.subscribe(counting.hear)
    await rig.beat()
    await rig.add(
        trigger=Every("10s"),
        overlap=overlap,
        misfire=Misfire(policy=OnMisfire.ALL, grace="10m"),
    )
    planner = rig.engine._loops["planner"].service
    rig.clock.jump(10)
    await planner._step()  # type: ignore[attr-defined]
    await rig.worker._step()
    await rig.settle()
    rig.clock.jump(50)
    rig.clock.sample(rig.clock.now(), rig.clock.monotonic(), rig.clock.monotonic())
    while not await planner._step():  # type: ignore[attr-defined]
        pass
    states = Counter(await rig.states())
    assert states[State.SKIPPED] == skipped
    assert counted(counting, "tickwell_skips_total") == ({("overlap",): skipped} if skipped else {})
