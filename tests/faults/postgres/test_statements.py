"""A fire is whole, after whichever statement the connection is lost; the long one cuts all."""

from tests.faults.postgres.statements import cut_everywhere


async def test_a_fire_is_done_whole_or_not_at_all(tmp_path):
    assert await cut_everywhere(tmp_path, {"fire_due"}) > 20
