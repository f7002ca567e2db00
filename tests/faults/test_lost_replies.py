"""A call was carried out and its answer never came: made again, it has no second effect."""

import pytest

from tests.processes.jobs import RUN_ALL, every, job, multiples
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap

#: Every call that changes something while jobs run.
METHODS = ["claim", "fire_due", "promote", "finish", "beat", "ping"]


@pytest.mark.parametrize("method", METHODS)
def test_everything_runs_exactly_once(site, processes, method):
    now = wall_millis()
    first = now // 500 * 500 + 1000
    last = first + 2000
    site.add(
        *(
            job(
                f"job-{n}",
                "count",
                every(500, first, last),
                now,
                misfire=RUN_ALL,
                overlap=Overlap.ALLOW,
            )
            for n in range(5)
        ),
        fires={f"job-{n}": multiples(500, first, last) for n in range(5)},
    )
    process = processes.agent(site.orders(drop_replies={method: 3}))
    process.wait_for("StepFailed")
    site.wait_until_quiet()
    history = site.judge()
    # Nobody was lost, so a lost answer costs no attempt.
    assert len(history.calls) == site.expected
    assert {call.attempt for call in history.calls} == {1}
    assert not process.heard("WorkerLost")
