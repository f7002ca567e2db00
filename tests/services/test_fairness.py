"""A project that asks for thousands of runs does not hold up the next one."""

import random

from tickwell.domain.ability import shared_ability
from tickwell.domain.fairness import SPREAD, Fairness
from tickwell.domain.worker import Worker
from tickwell.ports.records import ClaimRequest
from tickwell.services.executions.executions import Executions
from tickwell.services.executions.transactions import Transactions
from tickwell.services.jobs.jobs import Jobs
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock
from tickwell.testing.contract.builders import T0, a_job


async def test_a_run_of_a_quiet_project_overtakes_a_crowd():
    store, clock, seeded = MemoryStore(), ManualClock(T0), random.Random(0)
    jobs = Jobs(store, clock, seeded, lambda: None)
    executions = Executions(store, clock, seeded, lambda: None)
    for project in ("loud", "quiet"):
        await jobs.add(a_job("job", project=project))
    for _ in range(500):
        await executions.trigger("loud", "job")
    await clock.advance(0.5)
    run = await executions.trigger("quiet", "job")
    worker = Worker(
        id="w", host="h", pid=1, queues=("default",), abilities=(), capacity=1, started_at=T0
    )
    await store.beat(worker, clock.now())
    ability = shared_ability("work")
    request = ClaimRequest(
        worker="w",
        claim_id="c",
        now=clock.now(),
        lead=0,
        limit=60,
        queues=("default",),
        abilities=frozenset({ability}),
    )
    assert run.id in [claim.id for claim in await store.claim(request)]


def test_runs_in_transactions_of_the_caller_stand_in_the_same_line():
    fairness = Fairness()
    transactions = Transactions(MemoryStore(), "loud", random.Random(0), fairness)
    job = a_job("job", project="loud")
    fairness.delay("loud", T0)
    ranks = [transactions._maker(None, None)(job, T0).rank for _ in range(3)]
    assert [rank - ranks[0] for rank in ranks] == [0, SPREAD, 2 * SPREAD]
    alone = Transactions(MemoryStore(), "quiet", random.Random(0), fairness)
    assert ranks[0] - alone._maker(None, None)(a_job("job", project="quiet"), T0).rank == SPREAD
