"""A process is stopped at every one of its writes to MariaDB; the long sweep adds the reads."""

import pytest

from tests.faults.mysql.sweeping import swept


@pytest.mark.timeout(300)  # a dozen tables are made for each cut
def test_cut_at_every_write(tmp_path):
    swept(tmp_path, "brief")
