"""`tickwell serve --workers 2`: worker processes that are killed, and one that is orphaned."""

import os
import signal

from tests.processes.child import PATIENCE, is_alive, until
from tests.processes.jobs import RUN_ALL, every, job, multiples
from tests.processes.service import serving
from tests.processes.site import NEVER
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap


def add_ticking(site, seconds):
    now = wall_millis()
    first = now // 100 * 100 + 500
    last = first + seconds * 1000
    names = [f"tick-{number}" for number in range(5)]
    site.add(
        *(
            job(name, "count", every(200, first, last), now, misfire=RUN_ALL, overlap=Overlap.ALLOW)
            for name in names
        ),
        fires={name: multiples(200, first, last) for name in names},
    )


def test_a_killed_worker_is_started_anew(site):
    with serving(site, workers=2) as service:
        add_ticking(site, 6)
        site.wait_for_calls(10)
        before = tuple(service.workers())
        os.kill(before[0], signal.SIGKILL)
        [fresh] = service.wait_for_workers(1, without=before)
        until(lambda: fresh in {each.worker.pid for each in site.workers()})
        site.wait_until_quiet()
        site.judge()


def test_orphaned_workers_drain_by_themselves(site):
    with serving(site, workers=2, **NEVER) as service:
        add_ticking(site, 4)
        site.wait_for_calls(10)
        orphans = service.workers()
        service.process.kill()
        service.process.wait()
        until(lambda: not any(map(is_alive, orphans)))
    # Nothing waits for a lease.
    with serving(site, workers=1, **NEVER):
        site.wait_until_quiet()
        history = site.judge()
        outcomes = {each.outcome for row in history.rows for each in row.tries}
        assert "lost" not in outcomes


def test_the_service_ends_with_its_workers(site):
    with serving(site, workers=2) as service:
        add_ticking(site, 2)
        site.wait_for_calls(10)
        workers = service.workers()
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(PATIENCE) == 0
        assert not any(map(is_alive, workers))
    with serving(site, workers=1):
        site.wait_until_quiet()
        site.judge()
