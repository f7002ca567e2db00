"""Lanes come in order, whichever way the server joins them."""

from tickwell.domain.execution import State
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request


async def test_new_statistics_do_not_change_the_order_of_lanes(scene, owner):
    """With one row known, the server begins at the executions, and they come by their id."""
    names = ["c", "b", "a"]
    for name in names:
        job = await scene.job(name=name, trigger=OnDemand(), target=Call(name))
        await scene.run(a_request(job, T0))
        if name == "c":
            await owner.execute("VACUUM ANALYZE stores.execution")
    lanes = await scene.store.lane_lengths(State.QUEUED, 2)
    assert [lane.ability[-1] for lane in lanes] == sorted(names)
