"""SIGTERM under load: nothing new, an end in time, and what is left over runs elsewhere."""

import signal

from tests.processes.child import until
from tests.processes.jobs import RUN_ALL, every, job, multiples, once
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap

SETTINGS = {"drain_timeout": "1500ms"}
#: However slow the machine is: one run of a job at a time, and none of them is skipped.
IN_TURN = {"misfire": RUN_ALL, "overlap": Overlap.QUEUE_ALL}
JOBS = 20


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
            payload={"seconds": 0.02},
            **IN_TURN,
        )
        for number in range(JOBS)
    ]
    held = [
        job(f"held-{number}", "hold", once(first), now, payload={"until": str(flag)})
        for number in range(5)
    ]
    fires = {each.name: multiples(200, first, last) for each in ticking}
    site.add(*ticking, *held, fires=fires | {each.name: [first] for each in held})
    site.wait_for_calls(50)
    until(lambda: sum(line.job.startswith("held") for line in site.begun()) == len(held))
    staying = processes.agent(site.orders())
    leaving.send(signal.SIGTERM)
    assert leaving.wait() == 0
    [stopping] = leaving.heard("Stopping")
    late = [
        line
        for line in site.begun()
        if line.process == str(leaving.pid) and line.monotonic > stopping["at"]
    ]
    # What was about to begin does, one of each job at most: in the time for the drain it could
    # have run many.
    assert len(late) <= JOBS
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
    names = [f"tick-{number}" for number in range(JOBS)]
    site.add(
        *(
            job(
                name,
                "nap",
                every(200, first, last),
                now,
                payload={"seconds": 0.05},
                **IN_TURN,
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
