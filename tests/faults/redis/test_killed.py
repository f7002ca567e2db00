"""Workers are killed one after the other: what they ran ends all the same."""

import pytest

from tests.faults.test_poison import comes_back_soon
from tests.processes.jobs import job, once
from tickwell.clock import wall_millis
from tickwell.domain.execution import State
from tickwell.domain.policy import LOST_BUDGET, Backoff, Retry

RETRY = Retry(backoff=Backoff.FIXED, delay="100ms", jitter=0.0)


@pytest.mark.parametrize("losses", [2, LOST_BUDGET])
def test_an_execution_that_is_lost_again_and_again_does_not_stay_running(site, processes, losses):
    assert site.store.startswith("redis://")
    flag, now = site.folder / "go", wall_millis()
    at = next(at for at in range(now, now + 1500) if comes_back_soon("held", at))
    held = job("held", "hold", once(at), now, payload={"until": str(flag)}, retry=RETRY)
    site.add(held, fires={"held": [at]})
    for attempt in range(1, losses + 1):
        worker = processes.agent(site.orders())
        site.wait_for_calls(attempt)
        worker.kill()
    heir = processes.agent(site.orders())
    if losses < LOST_BUDGET:
        site.wait_for_calls(losses + 1)
    flag.touch()
    site.wait_until_quiet()
    execution = site.execution("held")
    ended = ["succeeded"] if losses < LOST_BUDGET else []
    assert [each.outcome for each in execution.attempts] == ["lost"] * losses + ended
    assert execution.state == (State.SUCCEEDED if ended else State.DEAD)
    assert execution.result == (str(heir.pid) if ended else None)
    site.judge()
