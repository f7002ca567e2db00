"""An outage of PostgreSQL in the log."""

import pytest

from tests.faults.outage_lines import check_outage
from tests.faults.postgres.victim import Victim


@pytest.mark.parametrize("workers", [0, 2])
def test_an_outage_is_three_lines_of_a_process_at_most(tmp_path, workers):
    server = Victim()
    check_outage(tmp_path, server.url, server.kill, server.start, workers=workers, listens=True)
