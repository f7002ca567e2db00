"""A process that was killed and starts again takes up its work at once: no lease is waited for."""

import signal

from tests.processes.jobs import job, once
from tickwell.clock import wall_millis

#: Seconds: a lease that nobody lives to see the end of.
NEVER = {"ttl": 3600.0, "beat": 1.0}


def test_it_finds_that_its_forerunner_is_gone(site, processes):
    flag, at = site.folder / "go", wall_millis() + 500
    held = job("held", "hold", once(at), wall_millis(), payload={"until": str(flag)})
    site.add(held, fires={"held": [at]})
    forerunner = processes.agent(site.orders(settings=NEVER))
    site.wait_for_calls(1)
    forerunner.send(signal.SIGKILL)
    forerunner.wait()
    flag.touch()
    heir = processes.agent(site.orders(settings=NEVER))
    heir.wait_for("WorkerLost")
    site.wait_until_quiet()
    outcomes = [each.outcome for each in site.execution("held").attempts]
    assert outcomes == ["lost", "succeeded"]
    assert site.execution("held").result == str(heir.pid)
    site.judge()
