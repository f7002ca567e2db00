"""A worker whose settings forbid a webhook leaves it to one that may send it."""

from dataclasses import replace
from random import SystemRandom

from tests.faults.test_cancel_running import outcomes
from tests.processes.child import until
from tests.processes.jobs import job, request
from tests.prove.receiver import Receiver
from tests.prove.webhooks import SENDING
from tickwell.clock import wall_millis
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.http import Http
from tickwell.domain.policy import Delivery, Retry
from tickwell.domain.trigger import OnDemand
from tickwell.ids import new_id

RUNS = 6


def test_one_that_may_not_send_over_http_leaves_it_to_one_that_may(site, processes):
    site.by_request = True
    with Receiver(site.calls, seed=1, slow=0) as receiver:
        hook = job("hook", "count", OnDemand(), wall_millis(), delivery=Delivery.AT_MOST_ONCE)
        hook = replace(
            hook, target=Http(receiver.url("count")), retry=Retry(max_attempts=1, max_losses=1)
        )
        site.add(hook, fires={"hook": []})
        strict = processes.agent(site.orders(webhooks=True))
        first = ask(site, hook)
        until(lambda: strict_has_refused(site, hook), what="refused")
        assert not site.begun()
        sender = processes.agent(site.orders(settings=SENDING, webhooks=True))
        rest = [ask(site, hook) for _ in range(RUNS - 1)]
        site.requests = (first, *rest)
        site.wait_until_quiet()
    site.judge()
    found = site.executions("hook")
    assert [(one.state, one.charged) for one in found] == [(State.SUCCEEDED, 1)] * RUNS
    assert sorted(line.execution for line in site.begun()) == sorted(site.requests)
    assert strict.process.poll() is sender.process.poll() is None
    for id in site.requests:
        *given_back, last = outcomes(site, id)
        assert set(given_back) <= {OutcomeKind.RELEASED}
        assert last is OutcomeKind.SUCCEEDED


def ask(site, hook):
    now = wall_millis()
    id = new_id(now, SystemRandom())
    run = request(hook, id, now, Overlap.ALLOW)
    site.ask(lambda store: store.add_executions([run], now, 0))
    return id


def strict_has_refused(site, hook):
    """Whether a worker tells the others that it may not run the job, and why."""
    refusals = [each for one in site.workers() for each in one.worker.refusals]
    assert all("plain http is not allowed here" in each.why for each in refusals)
    return hook.id in [each.job for each in refusals]
