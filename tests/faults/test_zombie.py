"""A worker that stands still past its lease comes back when its attempt is long somebody else's."""

import signal

from tests.processes.jobs import job, once
from tests.processes.site import SHORT
from tickwell.clock import wall_millis


def add_held(site):
    flag, now = site.folder / "go", wall_millis()
    at = now + 500
    held = job("held", "hold", once(at), now, payload={"until": str(flag)})
    site.add(held, fires={"held": [at]})
    return flag


def test_a_report_that_comes_too_late_is_refused_and_counted(site, processes):
    flag = add_held(site)
    # Its own lease is long: a machine that stood still would have it release the attempt unstarted.
    zombie = processes.agent(site.orders(halt_before="finish"))
    site.wait_for_calls(1)
    flag.touch()
    zombie.wait_for("Halted")
    site.freeze(zombie)
    flag.unlink()
    heir = processes.agent(site.orders(settings=SHORT))
    heir.wait_for("WorkerLost")
    site.wait_for_calls(2)
    flag.touch()
    site.wait_until_quiet()
    before = site.execution("held")
    zombie.send(signal.SIGCONT)
    fenced = zombie.wait_for("AttemptsFenced")
    assert fenced["reports"] == [[before.id, 1]]
    assert site.execution("held") == before
    assert before.result == str(heir.pid)
    assert [(each.number, each.outcome) for each in before.attempts] == [
        (1, "lost"),
        (2, "succeeded"),
    ]
    site.judge()


def test_a_worker_that_was_frozen_in_an_attempt_begins_anew(site, processes):
    flag = add_held(site)
    zombie = processes.agent(site.orders())
    site.wait_for_calls(1)
    site.freeze(zombie)
    heir = processes.agent(site.orders(settings=SHORT))
    site.wait_for_calls(2)
    flag.touch()
    site.wait_until_quiet()
    before = site.execution("held")
    assert before.result == str(heir.pid)
    heir.send(signal.SIGTERM)
    assert heir.wait() == 0
    zombie.send(signal.SIGCONT)
    # It runs again, under another name.
    now = wall_millis()
    at = now + 200
    site.add(job("next", "count", once(at), now), fires={"next": [at]})
    site.wait_until_quiet()
    assert site.begun()[-1].process == str(zombie.pid)
    assert site.execution("held") == before
    site.judge()
