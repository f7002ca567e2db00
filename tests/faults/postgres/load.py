"""Work that goes on while something is wrong."""

from tests.processes.jobs import RUN_ALL, every, job, multiples
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap

PERIOD = 200
JOBS = 20


def add_load(site, seconds):
    """A hundred fires a second; all of them run, whatever is in the way."""
    now = wall_millis()
    first = now // PERIOD * PERIOD + 1000
    last = first + int(seconds * 1000)
    names = [f"tick-{number}" for number in range(JOBS)]
    trigger, fires = every(PERIOD, first, last), multiples(PERIOD, first, last)
    site.add(
        *(
            job(name, "count", trigger, now, misfire=RUN_ALL, overlap=Overlap.ALLOW)
            for name in names
        ),
        fires=dict.fromkeys(names, fires),
    )


def judge_load(site):
    """Everything has run, none of it twice."""
    site.wait_until_quiet()
    history = site.judge()
    assert len(history.rows) == site.expected
    assert {row.state for row in history.rows} == {"succeeded"}
    return history
