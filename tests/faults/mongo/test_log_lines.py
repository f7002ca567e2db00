"""An outage of MongoDB in the log."""

import pytest

from tests.faults.outage_lines import check_outage


@pytest.mark.parametrize("workers", [0, 2])
def test_an_outage_is_three_lines_of_a_process_at_most(tmp_path, server, workers):
    url = server.url(f"lines{workers}", serverSelectionTimeoutMS=1000)
    check_outage(tmp_path, url, server.kill, server.start, workers=workers)
