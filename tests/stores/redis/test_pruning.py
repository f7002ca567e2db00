"""Pruning goes on while there is more than one call may delete."""

from tickwell.domain.policy import DAY
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request


async def test_what_many_rate_keys_left_behind_is_pruned_to_the_last(scene, store):
    job = await scene.job(trigger=OnDemand(), rate="1/1s", rate_key="{payload.key}")
    await scene.run(*(a_request(job, T0, payload={"key": key}) for key in range(5)))
    await scene.succeed(await scene.claim(T0, limit=5), T0)
    left = [await store.prune(T0 + DAY, 2) for _ in range(3)]
    assert left == [2, 2, 0]  # so that the reaper goes on while there is more
