"""A newer run of a job with `cancel_running` starts after the older one has stopped."""

import signal
from dataclasses import replace
from random import Random

import pytest

from tests.faults.test_gates import intervals, most_at_once
from tests.processes import journal
from tests.processes.child import until
from tests.processes.jobs import job, request
from tests.processes.site import SHORT
from tests.prove.receiver import Receiver
from tests.prove.webhooks import SENDING
from tickwell.clock import wall_millis
from tickwell.domain.execution import BY_NEWER_FIRE
from tickwell.domain.gate import Overlap
from tickwell.domain.http import Http
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
    ids = ask_for_runs(site, newest)
    flag.touch()
    judge_in_turn(site, ids)


def ask_for_runs(site, newest, count=RUNS):
    """One after the other, each when the one before it has begun."""
    now = wall_millis()
    ids = [new_id(now + number, Random(number)) for number in range(count)]
    site.requests = tuple(ids)
    for number, id in enumerate(ids, 1):
        run_now(site, newest, id)
        site.wait_for_calls(number)
    return ids


def run_now(site, newest, id):
    now = wall_millis()
    run = request(newest, id, now, Overlap.CANCEL_RUNNING)
    site.ask(lambda store: store.add_executions([run], now, 0))


def judge_in_turn(site, ids):
    site.wait_until_quiet()
    site.judge()
    assert most_at_once(intervals(site, "")) == 1
    *older, last = sorted(site.executions("newest"), key=lambda each: ids.index(each.id))
    assert [each.reason for each in older] == [BY_NEWER_FIRE] * (len(ids) - 1)
    assert last.state == "succeeded"


@pytest.fixture
def receiver(site):
    site.by_request = True
    with Receiver(site.calls, seed=1, slow=0) as receiver:
        yield receiver


def add_webhook(site, receiver):
    newest = job("newest", "count", OnDemand(), wall_millis())
    newest = replace(newest, target=Http(receiver.url("hold"), timeout="5m"))
    site.add(newest, fires={"newest": []})
    return newest


def test_live_workers_hang_up_on_the_older_receiver_before_the_newer_one_is_called(
    site, processes, receiver
):
    for _ in range(2):
        processes.agent(site.orders(settings=SENDING, webhooks=True))
    ids = ask_for_runs(site, add_webhook(site, receiver))
    receiver.release()
    judge_in_turn(site, ids)


def test_a_frozen_worker_hangs_up_when_it_is_back_and_is_on_record_as_lost(
    site, processes, receiver
):
    """Meanwhile two are called at once: nobody can end a call of a process that stands still."""
    frozen = processes.agent(site.orders(settings=SENDING, webhooks=True))
    newest = add_webhook(site, receiver)
    [older] = ask_for_runs(site, newest, 1)
    site.freeze(frozen)
    heir = processes.agent(site.orders(settings=SENDING | SHORT, webhooks=True))
    newer = new_id(wall_millis(), Random(9))
    site.requests = (older, newer)
    run_now(site, newest, newer)
    heir.wait_for("WorkerLost")
    site.wait_for_calls(2)
    frozen.send(signal.SIGCONT)
    until(lambda: ends(site) == [older], what="hung up")
    receiver.release()
    site.wait_until_quiet()
    site.judge()
    found = {one.id: one for one in site.executions("newest")}
    assert (found[older].state, found[older].reason) == ("cancelled", BY_NEWER_FIRE)
    assert found[newer].state == "succeeded"
    assert outcomes(site, older) == ["lost"]
    assert outcomes(site, newer) == ["succeeded"]


def ends(site):
    """Executions whose receiver has heard the end of its call."""
    return [line.execution for line in journal.read(site.calls) if line.what == "end"]


def outcomes(site, id):
    execution = site.ask(lambda store: store.get_execution("default", id))
    return [each.outcome for each in execution.attempts]
