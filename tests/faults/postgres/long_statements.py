"""Every call is whole, after whichever statement the connection is lost."""

import pytest

from tests.faults.postgres.statements import cut_everywhere


@pytest.mark.timeout(900)
async def test_every_call_is_done_whole_or_not_at_all(tmp_path):
    assert await cut_everywhere(tmp_path) > 200
