"""Queue lengths on Redis are read in batches, so that no script blocks the server."""

import pytest

from tickwell.domain.execution import State
from tickwell.domain.trigger import OnDemand
from tickwell.stores.redis import history
from tickwell.testing.contract.builders import T0, a_request, minute


@pytest.mark.parametrize("size", [1, 2, 3, 7, 500])
async def test_batches_of_any_size_count_the_same(scene, monkeypatch, size):
    monkeypatch.setattr(history, "SCAN_BATCH", size)
    for project, count in (("a", 3), ("b", 4)):
        job = await scene.job(trigger=OnDemand(), project=project)
        later = [a_request(job, minute(9)), a_request(job, minute(10))]
        await scene.run(*(a_request(job, T0 + n) for n in range(count)), *later)
    await scene.store.promote(T0 + 10, 1_000, 100)
    found = await scene.store.queue_lengths(T0 + 10)
    assert {(each.project, each.state): (each.count, each.due) for each in found} == {
        ("a", State.QUEUED): (3, 3),
        ("a", State.WAITING): (2, 0),
        ("b", State.QUEUED): (4, 4),
        ("b", State.WAITING): (2, 0),
    }
