"""Three processes before the same gates, rates and limits: never above one, and all of it runs."""

from tests.processes import journal
from tests.processes.jobs import RUN_ALL, every, job, multiples, once
from tests.processes.site import STEADY
from tickwell.clock import wall_millis
from tickwell.domain.gate import Concurrency, Overlap

KEYED = 40
NAP = 0.1
RATED = 24
#: Starts in any period, and its milliseconds; five periods for all that are rated.
STARTS, PERIOD = 4, 400
#: Attempts of a project at once in all processes, and executions that wait for it.
LIMIT, LIMITED = 2, 30
#: Seconds: whoever looked for permits only then would need many minutes for all of them.
RARELY = {"poll": "30s"}


def intervals(site, prefix):
    """Begin and end of each call, in nanoseconds, by the clock that all processes share."""
    begun: dict[tuple[str, int], int] = {}
    ended: dict[tuple[str, int], int] = {}
    for line in journal.read(site.calls):
        if line.job.startswith(prefix):
            side = begun if line.what == "begin" else ended
            side[line.execution, line.attempt] = line.monotonic
    return sorted((begin, ended[key]) for key, begin in begun.items())


def most_at_once(spans):
    # An end and a begin in the same nanosecond do not overlap.
    moves = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    now = most = 0
    for _, change in moves:
        now += change
        most = max(most, now)
    return most


def recorded_starts(site, history, prefix):
    """The start of each that ran, as the store has it: before its call, and not after."""
    begun = {call.execution: call.at + call.slack for call in history.calls}
    names = {row.id: row.job for row in history.rows}
    starts = []
    for execution in site.executions():
        if names[execution.id].startswith(prefix):
            assert execution.started_at <= begun[execution.id]
            starts.append(execution.started_at)
    return starts


def test_gates_are_exact(site, processes):
    asked = wall_millis()
    orders = site.orders(settings=STEADY | RARELY)
    processes.begin(orders).wait_for("Started")
    now = wall_millis()
    # All three are there at the first fire, however slow the machine is: fires that came due
    # before are within the grace, run one after the other, and none of them is skipped.
    first = (now + 3 * (now - asked)) // 200 * 200 + 2000
    last = first + 3000
    keyed = [
        job(
            f"keyed-{number}",
            "nap",
            once(first),
            now,
            misfire=RUN_ALL,
            concurrency=Concurrency("key", 2),
            payload={"seconds": NAP},
        )
        for number in range(KEYED)
    ]
    rated = [
        job(
            f"rated-{number}",
            "count",
            once(first),
            now,
            misfire=RUN_ALL,
            rate=f"{STARTS}/{PERIOD}ms",
            rate_key="key",
        )
        for number in range(RATED)
    ]
    lonely = [
        job(
            f"{overlap}-{number}",
            "nap",
            every(200, first, last),
            now,
            misfire=RUN_ALL,
            overlap=overlap,
            payload={"seconds": 0.35 if overlap is Overlap.SKIP else 0.05},
        )
        for number in range(3)
        for overlap in (Overlap.SKIP, Overlap.QUEUE_ALL)
    ]
    fires = {each.name: [first] for each in (*keyed, *rated)}
    fires |= {each.name: multiples(200, first, last) for each in lonely}
    site.add(*keyed, *rated, *lonely, fires=fires)
    for _ in range(2):
        processes.begin(orders)
    for process in processes.children:
        process.wait_for("Started")
    site.wait_until_quiet()
    history = site.judge()
    assert {call.attempt for call in history.calls} == {1}
    spans = intervals(site, "keyed-")
    assert len(spans) == KEYED
    assert most_at_once(spans) == 2
    starts = sorted(recorded_starts(site, history, "rated-"))
    assert len(starts) == RATED
    apart = [later - start for start, later in zip(starts, starts[STARTS:], strict=False)]
    assert min(apart) >= PERIOD
    for each in lonely:
        assert most_at_once(intervals(site, each.name)) == 1
    states = {row.state for row in history.rows if row.job.startswith("skip-")}
    # None is skipped where the machine stood still for all of them: they run one after the other.
    assert "succeeded" in states
    assert states <= {"succeeded", "skipped"}
    states = {row.state for row in history.rows if row.job.startswith("queue_all-")}
    assert states == {"succeeded"}


def test_a_limit_of_running_attempts_is_exact(site, processes):
    orders = site.orders(settings=STEADY | {"max_running": LIMIT})
    now = wall_millis()
    jobs = [
        job(f"limited-{number}", "nap", once(now), now, misfire=RUN_ALL, payload={"seconds": NAP})
        for number in range(LIMITED)
    ]
    site.add(*jobs, fires={each.name: [now] for each in jobs})
    for _ in range(3):
        processes.begin(orders)
    for process in processes.children:
        process.wait_for("Started")
    site.wait_until_quiet()
    site.judge()
    spans = intervals(site, "limited-")
    assert len(spans) == LIMITED
    assert most_at_once(spans) == LIMIT
