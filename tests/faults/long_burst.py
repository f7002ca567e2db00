"""The burst with four processes: every count is exact, and each of them runs some."""

from tests.faults.test_burst import burst


def test_four_processes_share_ten_thousand_fires(site, processes):
    burst(site, processes, 4)
