"""Handlers that take their process along, never end, or heed nothing."""

import pytest

from tests.processes.child import until
from tests.processes.jobs import RUN_ALL, every, job, multiples, once, uuid_of
from tests.processes.service import serving
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import APART, LOST_BUDGET, Backoff, Retry, Timeout
from tickwell.ids import execution_id, spread

RETRY = Retry(max_attempts=2, backoff=Backoff.FIXED, delay="100ms", jitter=0.0)
#: The second loss is followed by a wait: what was lost along with it has run by then.
PAUSE = Retry(max_attempts=2, backoff=Backoff.FIXED, delay="3s", jitter=0.0)
TIMEOUT = Timeout(soft="1s", hard="2s")


def add_neighbours(site, seconds, overlap=Overlap.ALLOW):
    now = wall_millis()
    first = now // 200 * 200 + 1000
    last = first + seconds * 1000
    names = [f"neighbour-{number}" for number in range(5)]
    site.add(
        *(
            job(
                name,
                "nap",
                every(200, first, last),
                now,
                misfire=RUN_ALL,
                retry=RETRY,
                overlap=overlap,
                payload={"seconds": 0.05},
            )
            for name in names
        ),
        fires={name: multiples(200, first, last) for name in names},
    )


def add_bad(site, handler, retry=RETRY, timeout=None, **payload):
    now = wall_millis()
    at = next(at for at in range(now + 1500, now + 3000) if comes_back_soon("bad", at))
    bad = job(
        "bad",
        handler,
        once(at),
        now,
        retry=retry,
        timeout=timeout or Timeout(),
        payload=payload or None,
    )
    site.add(bad, fires={"bad": [at]})


def comes_back_soon(name, at):
    """Whether the second loss of what fires then is followed by one of the shorter waits."""
    return spread(f"{execution_id(uuid_of(name), at)}:lost", 1 + 15 * APART) < APART


def judge_neighbours(site):
    site.wait_until_quiet()
    history = site.judge()
    for row in history.rows:
        if row.job == "bad":
            continue
        # What a neighbour lost with the process is no failure of its own.
        *others, last = [each.outcome for each in row.tries]
        assert set(others) <= {"lost", "released"}
        assert last == "succeeded" or others.count("lost") == LOST_BUDGET - 1
    for execution in site.executions():
        if execution.job_id != uuid_of("bad"):
            assert execution.charged == (execution.state == "succeeded")
    return history


def test_a_handler_that_kills_its_process_ends_as_a_dead_letter(site):
    with serving(site, workers=2) as service:
        # One of each at a time: in a crowd it would not be blamed at first.
        add_neighbours(site, 8, Overlap.QUEUE_ALL)
        add_bad(site, "poison", PAUSE)
        until(lambda: site.executions("bad") and site.executions("bad")[0].state == "dead")
        bad = site.execution("bad")
        assert bad.lost == LOST_BUDGET
        assert bad.charged == 0
        assert [each.outcome for each in bad.attempts] == ["lost"] * LOST_BUDGET
        judge_neighbours(site)
        assert service.process.poll() is None
        service.wait_for_workers(2)


@pytest.mark.parametrize("handler", ["quit", "quit_in_thread"])
def test_a_handler_that_exits_fails(site, processes, handler):
    process = processes.agent(site.orders())
    add_neighbours(site, 2)
    add_bad(site, handler)
    history = judge_neighbours(site)
    [bad] = [row for row in history.rows if row.job == "bad"]
    assert [each.outcome for each in bad.tries] == ["failed", "failed"]
    assert bad.state == "dead"
    assert process.process.poll() is None


# Beside a thread that goes on, the same execution is not started again: it is put off, at most
# ten times uncharged.
@pytest.mark.parametrize(
    ("handler", "then"), [("spin", ["snoozed"] * 11), ("stubborn", ["timed_out"])]
)
def test_a_handler_that_never_ends_is_timed_out(site, processes, handler, then):
    flag = site.folder / "go"
    process = processes.agent(site.orders())
    add_neighbours(site, 2)
    payload = {"until": str(flag)} if handler == "stubborn" else {}
    add_bad(site, handler, timeout=TIMEOUT, **payload)
    history = judge_neighbours(site)
    [bad] = [row for row in history.rows if row.job == "bad"]
    assert [each.outcome for each in bad.tries] == ["timed_out", *then]
    assert bad.state == "dead"
    assert process.process.poll() is None
    flag.touch()
