"""The burst with four processes: every count is exact, and each of them gets a share."""

from tests.faults.test_burst import test_each_fire_is_run_once_and_every_process_helps as burst


def test_four_processes_share_ten_thousand_fires(site, processes):
    burst(site, processes, 4)
