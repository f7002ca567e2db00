"""An operation reads the clock once: what it stores is exactly as far apart as the caller asked."""

import random
from datetime import timedelta

import pytest

from tickwell import Scheduler
from tickwell.clock import NEVER
from tickwell.declared.internals import internals
from tickwell.services.executions.executions import Executions
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.time import After, instant_of
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock
from tickwell.testing.contract.builders import T0, a_job

HOUR = 3_600_000


class RestlessClock(ManualClock):
    """Every reading is a second later than the one before, as on a very slow machine."""

    def now(self):
        self.jump(1)
        return super().now()


def length(pause):
    return pause.until - pause.since


async def test_a_pause_lasts_exactly_as_long_as_asked():
    jobs = Jobs(MemoryStore(), RestlessClock(T0), random.Random(0), lambda: None)
    await jobs.add(a_job("job"))
    (changed,) = await jobs.pause("default", ["job"], by="ann", until=After(HOUR))
    assert length(changed.entry.cursor.pause) == HOUR


async def test_a_delayed_run_comes_exactly_as_late_as_asked():
    store, clock, seeded = MemoryStore(), RestlessClock(T0), random.Random(0)
    await Jobs(store, clock, seeded, lambda: None).add(a_job("job"))
    executions = Executions(store, clock, seeded, lambda: None)
    execution = await executions.trigger("default", "job", run_at=After(HOUR))
    assert execution.run_at - execution.created_at == HOUR


@pytest.mark.parametrize("span", ["1h", timedelta(hours=1)])
async def test_the_library_leaves_the_reading_to_the_operation(span):
    scheduler = Scheduler("memory://")
    internals(scheduler).live_on(MemoryStore(), RestlessClock(T0), scheduler.settings)

    @scheduler.job()
    async def mail() -> None: ...

    await scheduler.open()
    execution = await scheduler.trigger_in(span, "mail")
    assert execution.run_at - execution.created_at == timedelta(hours=1)
    changed = await scheduler.pause_job("mail", until=span)
    assert length(changed.job.pause) == timedelta(hours=1)
    await scheduler.stop()


def test_a_delay_beyond_the_last_instant_ends_there():
    assert instant_of(After(NEVER), T0) == NEVER
