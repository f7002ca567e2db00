"""Ten thousand fires at one instant, and two processes; four of them: long_burst.py."""

from tests.faults.test_burst import burst


def test_each_fire_is_run_once_and_every_process_helps(site, processes):
    burst(site, processes, 2)
