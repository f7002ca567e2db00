"""A process is stopped, or loses its connection, at every one of its store calls.

Each cut has a database of its own, and making one takes a second or two.
"""

import pytest

from tests.faults.mongo.sweeping import swept


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("how", ["kill", "reset"])
def test_cut_at_every_store_call(tmp_path, how):
    swept(tmp_path, how)
