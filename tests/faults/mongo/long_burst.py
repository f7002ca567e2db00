"""Ten thousand fires at one instant, and two processes that both want them."""

from tests.faults.test_burst import burst


def test_two_processes_share_ten_thousand_fires(site, processes):
    burst(site, processes, 2)
