"""A process is stopped, or loses its connection, at every one of its store calls."""

import pytest

from tests.faults.mysql.sweeping import swept


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("how", ["kill", "reset"])
def test_cut_at_every_store_call(tmp_path, how):
    swept(tmp_path, how)
