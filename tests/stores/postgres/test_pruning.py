"""Pruning finds what is old without an index on its age, which a success would have to write."""

import re

from tickwell.domain.execution import State
from tickwell.domain.policy import DAY, Retention
from tickwell.domain.trigger import OnDemand
from tickwell.stores.sql.flow import pruning
from tickwell.testing.contract.builders import T0, a_job, a_request


async def looks(owner):
    return await owner.fetchval("SELECT min(prune_at) FROM stores.cursor")


async def test_what_was_live_at_the_last_look_is_counted_when_it_ends(scene, store):
    job = await scene.job(trigger=OnDemand(), retention=Retention(count=1))
    await scene.run(*(a_request(job, T0 + n) for n in range(3)), now=T0 + 3)
    claims = await scene.claim(T0 + 3)
    assert await store.prune(T0 + 3, 100) == 0
    await scene.succeed(claims, T0 + 3)
    assert await store.prune(T0 + 3, 100) == 2
    assert await scene.fire_times(job) == [T0 + 2]


async def test_a_job_is_looked_at_when_its_oldest_execution_is_due_to_go(scene, store, owner):
    job = await scene.job(trigger=OnDemand(), retention=Retention(age="1d", dead="3d"))
    assert await looks(owner) is None
    await scene.run(*(a_request(job, T0) for _ in range(2)))
    await scene.succeed(await scene.claim_one(T0, limit=1), T0 + 5)
    await scene.fail(await scene.claim_one(T0, limit=1), T0 + 5, retry=False)
    assert await looks(owner) == T0 + DAY
    assert await store.prune(T0 + DAY, 100) == 0
    assert await looks(owner) == T0 + 5 + DAY
    assert await store.prune(T0 + 5 + DAY, 100) == 1
    assert await looks(owner) == T0 + 5 + 3 * DAY
    assert await store.prune(T0 + 5 + 3 * DAY, 100) == 1
    assert await looks(owner) is None


async def test_many_jobs_that_are_always_looked_at_do_not_hide_others(scene, store, monkeypatch):
    monkeypatch.setattr(pruning, "JOBS", 2)
    dying = [a_job(trigger=OnDemand(), retention=Retention(count=1)) for _ in range(7)]
    old = await scene.job(trigger=OnDemand(), retention=Retention(age="1d"))
    await scene.add(*dying)
    await scene.run(*(a_request(job, T0) for job in dying for _ in range(2)))
    await scene.fail(await scene.claim(T0), T0, retry=False)
    await scene.run(a_request(old, T0))
    await scene.succeed(await scene.claim_one(T0), T0)
    assert await store.prune(T0 + DAY, 100) == 1
    assert (await store.stats())[State.DEAD] == 14
    assert await scene.states(old) == []


async def test_what_many_keys_left_behind_is_pruned_to_the_last(scene, store, owner):
    job = await scene.job(trigger=OnDemand(), rate="1/1s", rate_key="{payload.key}")
    await scene.run(*(a_request(job, T0, payload={"key": key}) for key in range(5)))
    await scene.succeed(await scene.claim(T0, limit=5), T0)
    left = [await store.prune(T0 + DAY, 2) for _ in range(3)]
    assert left == [4, 4, 0]  # so that the reaper goes on while there is more
    for table in ("gate", "rate"):
        assert await owner.fetchval(f"SELECT count(*) FROM stores.{table}") == 0


def test_what_a_statement_changes_is_chosen_once(store):
    """A plan may run the SELECT of `IN (SELECT … LIMIT n)` for each row, and change more than n."""
    joined = re.compile(r"(DELETE|UPDATE)\b[^;]*\bIN \(\s*SELECT[^;)]*(\([^)]*\)[^;)]*)*LIMIT")
    assert [name for name, text in store.database.sql.items() if joined.search(text)] == []
