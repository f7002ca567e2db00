"""A newer run of a job with `cancel_running` starts after the older one has stopped."""

from random import Random

from tests.faults.test_gates import intervals, most_at_once
from tests.processes.jobs import job, request
from tickwell.clock import wall_millis
from tickwell.domain.execution import BY_NEWER_FIRE
from tickwell.domain.gate import Overlap
from tickwell.domain.trigger import OnDemand
from tickwell.ids import new_id

RUNS = 5


def test_live_workers_stop_the_older_run_before_the_newer_one_starts(site, processes):
    for _ in range(2):
        processes.agent(site.orders())
    flag = site.folder / "go"
    now = wall_millis()
    newest = job("newest", "linger", OnDemand(), now, payload={"until": str(flag)})
    site.add(newest, fires={"newest": []})
    ids = [new_id(now + number, Random(number)) for number in range(RUNS)]
    site.requests = tuple(ids)
    for number, id in enumerate(ids, 1):
        now = wall_millis()
        run = request(newest, id, now, Overlap.CANCEL_RUNNING)
        site.ask(lambda store, run=run, now=now: store.add_executions([run], now, 0))
        site.wait_for_calls(number)
    flag.touch()
    site.wait_until_quiet()
    site.judge()
    assert most_at_once(intervals(site, "newest")) == 1
    *older, last = sorted(site.executions("newest"), key=lambda each: ids.index(each.id))
    assert [each.reason for each in older] == [BY_NEWER_FIRE] * (RUNS - 1)
    assert last.state == "succeeded"
