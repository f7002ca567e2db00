"""SIGTERM under load: nothing new, an end in time, and what is left over runs elsewhere."""

import signal
import time

from tests.processes.jobs import RUN_ALL, every, job, multiples, once
from tickwell.clock import wall_millis

DRAIN = 1.5
SETTINGS = {"drain_timeout": DRAIN}


def test_a_process_that_is_asked_to_stop(site, processes):
    leaving = processes.agent(site.orders(settings=SETTINGS))
    now = wall_millis()
    first = now // 100 * 100 + 500
    last = first + 4000
    flag = site.folder / "go"
    ticking = [
        job(
            f"tick-{number}",
            "nap",
            every(200, first, last),
            now,
            misfire=RUN_ALL,
            payload={"seconds": 0.02},
        )
        for number in range(20)
    ]
    held = [
        job(f"held-{number}", "hold", once(first), now, payload={"until": str(flag)})
        for number in range(5)
    ]
    fires = {each.name: multiples(200, first, last) for each in ticking}
    site.add(*ticking, *held, fires=fires | {each.name: [first] for each in held})
    site.wait_for_calls(50)
    staying = processes.agent(site.orders())
    asked = time.monotonic_ns()
    leaving.send(signal.SIGTERM)
    assert leaving.wait(DRAIN + 2) == 0
    late = [
        line
        for line in site.begun()
        if line.process == str(leaving.pid) and line.monotonic > asked + 1_000_000_000
    ]
    assert late == []
    # The five that did not end were given back, and no lease had to run out for it.
    flag.touch()
    site.wait_until_quiet()
    assert not staying.heard("WorkerLost")
    site.judge()
    for each in held:
        attempts = site.execution(each.name).attempts
        assert [one.outcome for one in attempts] == ["released", "succeeded"]


def test_every_process_is_asked_one_after_the_other(site, processes):
    now = wall_millis()
    first = now // 100 * 100 + 1000
    last = first + 5000
    names = [f"tick-{number}" for number in range(20)]
    site.add(
        *(
            job(
                name,
                "nap",
                every(200, first, last),
                now,
                misfire=RUN_ALL,
                payload={"seconds": 0.05},
            )
            for name in names
        ),
        fires={name: multiples(200, first, last) for name in names},
    )
    crew = [processes.agent(site.orders()) for _ in range(2)]
    for round in range(4):
        site.wait_for_calls(60 * (round + 1))
        crew[round % 2].send(signal.SIGTERM)
        assert crew[round % 2].wait() == 0
        crew[round % 2] = processes.agent(site.orders())
    site.wait_until_quiet()
    site.judge()
