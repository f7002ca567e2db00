"""Lists for people on MongoDB."""

from tests.stores.looking import (
    test_a_page_of_executions_looks_only_so_far,
    test_a_page_of_jobs_looks_only_so_far,
)
from tickwell.domain.execution import LIVE
from tickwell.domain.policy import HOUR
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import ExecutionFilter
from tickwell.testing.contract.builders import T0, a_request

__all__ = [
    "test_a_page_of_executions_looks_only_so_far",
    "test_a_page_of_jobs_looks_only_so_far",
]


async def test_lists_of_live_executions_never_walk_history(scene, owner):
    job = await scene.job(trigger=OnDemand())
    await scene.run(*(a_request(job, T0) for _ in range(5)))
    await scene.succeed(await scene.claim(T0), T0)
    live = await scene.run(a_request(job, T0), a_request(job, T0 + HOUR))
    [claim] = await scene.claim(T0)
    [queued] = await scene.run(a_request(job, T0))
    await scene.run(a_request(await scene.job(trigger=OnDemand(), project="other"), T0))
    where = ExecutionFilter(project="default", states=LIVE, look=2)
    owner.command("profile", 2)
    try:
        page = await scene.store.list_executions(where)
    finally:
        owner.command("profile", 0)
    assert [one.id for one in page.items] == sorted([*live, queued], reverse=True)
    assert claim.id in live
    seen = list(owner["system.profile"].find({"ns": "stores.executions"}))
    assert len(seen) == len(LIVE)
    assert sum(one["docsExamined"] for one in seen) == 4
    owner["system.profile"].drop()
