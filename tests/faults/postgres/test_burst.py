"""Ten thousand fires at one instant, and processes that share them."""

import pytest

from tests.faults.test_burst import test_each_fire_is_run_once_and_every_process_helps as burst


@pytest.mark.parametrize("count", [2, 4])
def test_each_fire_is_run_once_and_every_process_helps(site, processes, count):
    burst(site, processes, count)
