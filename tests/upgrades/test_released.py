"""A store as each release left it opens, is brought up to date, and goes on firing."""

import pytest

from tests.upgrades.copies import FOLDER, KINDS, put_back
from tests.upgrades.shop import STATES, shop

COPIES = sorted(tuple(path.name.removesuffix(".gz").split("-", 1)) for path in FOLDER.iterdir())


def test_every_kind_of_store_has_a_copy():
    assert {kind for kind, _ in COPIES} == set(KINDS)


@pytest.mark.parametrize(("kind", "rest"), COPIES)
async def test_a_released_store_goes_on(kind, rest, tmp_path):
    url = put_back(kind, rest.rpartition(".")[0], tmp_path)
    scheduler, ran = shop(url)
    await scheduler.open()
    try:
        before = await scheduler.executions(limit=100)
        assert {each.job: each.state for each in before if each.job != "adhoc"} == STATES
        [dead] = [each for each in before if each.state == "dead"]
        resting = await scheduler.get_job("resting")
        assert resting.pause is not None
        assert resting.pause.why == "stocktaking"
        [waiting] = await scheduler.executions(job="adhoc")
        assert (waiting.state, waiting.payload) == ("waiting", {"order": 7})
        await scheduler.start()
        # It was due for all the time since: the misfire policy runs the latest.
        await ran.wait()
        await scheduler.wait((await scheduler.trigger("greet")).id)
        await scheduler.revive(dead.id)
        assert (await scheduler.wait(dead.id)).state == "dead"
    finally:
        await scheduler.stop()
