"""A run of high priority starts next on a worker that is busy with very many of low priority."""

from random import Random

from tests.processes.child import until
from tests.processes.jobs import job, request, uuid_of
from tickwell.clock import wall_millis
from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.trigger import OnDemand
from tickwell.ids import new_id

CAPACITY = 4
#: Runs that end at once, so that the worker claims ahead, and runs that take all its slots.
SHORT, LONG = 40, 300


def test_it_overtakes_all_that_the_worker_has_claimed_ahead(site, processes):
    worker = processes.agent(site.orders(settings={"capacity": CAPACITY}, report_every=0.1))
    flag, now = site.folder / "go", wall_millis()
    held = {"until": str(flag)}
    site.add(
        job("short", "count", OnDemand(), now, priority=1),
        job("long", "hold", OnDemand(), now, priority=1, payload=held),
        job("urgent", "hold", OnDemand(), now, priority=10, payload=held),
        fires={"short": [], "long": [], "urgent": []},
    )
    ask(site, "short", SHORT)
    site.wait_for_calls(SHORT)
    ask(site, "long", LONG)
    site.wait_for_calls(SHORT + CAPACITY)
    [urgent] = ask(site, "urgent", 1)

    def is_next():
        """It is in the worker's hand, or nothing is that could be before it."""
        return site.execution("urgent").state is State.RUNNING or claimed(site) == CAPACITY

    until(is_next)
    # The worker has heard what the store has handed over to it.
    worker.wait_for("Report", after=len(worker.lines), in_hand=claimed(site))
    assert urgent not in {line.execution for line in site.begun()}
    flag.touch()
    site.wait_until_quiet()
    assert site.begun()[SHORT + CAPACITY].execution == urgent
    site.judge()


def claimed(site):
    return site.ask(lambda store: store.stats())[State.RUNNING]


def ask(site, name, count):
    """Ask for runs of a job, in one call."""

    async def add(store):
        [entry] = await store.get_jobs("default", [uuid_of(name)])
        now = wall_millis()
        ids = [new_id(now, Random(f"{name} {number}")) for number in range(count)]
        runs = [request(entry.job, id, now, Overlap.ALLOW) for id in ids]
        return await store.add_executions(runs, now, 0)

    ids = site.ask(add)
    site.requests += tuple(ids)
    return ids
