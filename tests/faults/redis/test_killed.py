"""Workers are killed one after the other: what they ran ends all the same."""

from tests.faults.test_poison import comes_back_soon
from tests.processes.jobs import job, once
from tickwell.clock import wall_millis
from tickwell.domain.policy import Backoff, Retry

RETRY = Retry(backoff=Backoff.FIXED, delay="100ms", jitter=0.0)


def test_an_execution_that_was_lost_twice_does_not_stay_running(site, processes):
    flag, now = site.folder / "go", wall_millis()
    at = next(at for at in range(now, now + 1500) if comes_back_soon("held", at))
    held = job("held", "hold", once(at), now, payload={"until": str(flag)}, retry=RETRY)
    site.add(held, fires={"held": [at]})
    for attempt in (1, 2):
        worker = processes.agent(site.orders())
        site.wait_for_calls(attempt)
        worker.kill()
    heir = processes.agent(site.orders())
    site.wait_for_calls(3)
    flag.touch()
    site.wait_until_quiet()
    execution = site.execution("held")
    assert execution.result == str(heir.pid)
    assert [each.outcome for each in execution.attempts] == ["lost", "lost", "succeeded"]
    site.judge()
