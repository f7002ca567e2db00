"""A process that was killed and starts again takes up its work at once: no lease is waited for."""

import signal

from tests.processes.jobs import job, once
from tests.processes.site import NEVER
from tickwell.clock import wall_millis


def test_it_finds_that_its_forerunner_is_gone(site, processes):
    flag, now = site.folder / "go", wall_millis()
    at = now + 500
    held = job("held", "hold", once(at), now, payload={"until": str(flag)})
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
