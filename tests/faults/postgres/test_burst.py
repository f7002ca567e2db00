"""Ten thousand fires at one instant, and processes that share them."""

import pytest

from tests.faults.test_burst import test_each_fire_is_run_once_and_every_process_helps as burst


# Four on two cores, beside other tests: one may come too late to get a share.
@pytest.mark.parametrize("count", [2])
def test_each_fire_is_run_once_and_every_process_helps(site, processes, count):
    burst(site, processes, count)
