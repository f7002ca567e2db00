"""Ten thousand fires at one instant, and two processes that both want them."""

from collections import Counter

from tests.processes.jobs import RUN_ALL, job, once
from tests.processes.site import STEADY
from tickwell.clock import wall_millis
from tickwell.settings import Settings

FIRES = 10_000


def test_each_fire_is_run_once_and_every_process_helps(site, processes):
    help_of = burst(site, processes, 2)
    # More than once its capacity: how the cores are shared among the processes is not ours to say.
    assert min(help_of.values()) > Settings().capacity, help_of


def burst(site, processes, count, fires=FIRES):
    """Fires at one instant for several processes, each run once; how many ran in each process."""
    started = [processes.begin(site.orders(settings=STEADY)) for _ in range(count)]
    for process in started:
        process.wait_for("Started")
    now = wall_millis()
    at = now + 2000 + fires * 6 // 10  # jobs are added meanwhile
    names = [f"job-{number}" for number in range(fires)]
    site.add(
        *(job(name, "count", once(at), now, misfire=RUN_ALL) for name in names),
        fires={name: [at] for name in names},
    )
    site.wait_until_quiet()
    history = site.judge()
    assert len(history.rows) == len(history.calls) == fires
    ran = Counter(call.process for call in history.calls)
    assert len(ran) == count
    return ran
