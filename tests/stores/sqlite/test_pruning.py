"""Pruning looks at few jobs at a time, and does not walk through many dead letters each time."""

import re

from tickwell.domain.policy import MINUTE, Retention
from tickwell.domain.trigger import OnDemand
from tickwell.stores.sqlite import SqliteStore
from tickwell.stores.sqlite.parts import JOBS
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene

MANY = 1100


async def test_dead_letters_are_passed_over_now_and_then(tmp_path):
    store = SqliteStore(tmp_path / "s.db", synchronous="normal")
    await store.open()
    scene, seen = Scene(store), list[str]()
    job = await scene.job(trigger=OnDemand(), retention=Retention(count=0))
    await scene.run(*(a_request(job, T0) for _ in range(MANY)))
    await scene.fail(await scene.claim(T0, limit=MANY), T0, retry=False)
    await store.writer.call(lambda session: session.connection.set_trace_callback(seen.append))
    for at in (0, 1, 499, 500, 501, MINUTE):
        await store.prune(T0 + at, 100)
    assert sum("state <> 6" in text for text in seen) == 3  # at 0, 500 and a minute
    await store.close()


async def test_no_transaction_looks_at_more_than_a_few_jobs(tmp_path):
    store = SqliteStore(tmp_path / "s.db", synchronous="normal")
    await store.open()
    scene, seen = Scene(store), list[str]()
    jobs = [
        await scene.job(f"j{number}", trigger=OnDemand(), retention=Retention(count=0))
        for number in range(2 * JOBS + 1)
    ]
    await scene.run(*(a_request(job, T0) for job in jobs))
    await scene.succeed(await scene.claim(T0, limit=len(jobs)), T0)
    await store.writer.call(lambda session: session.connection.set_trace_callback(seen.append))
    assert await store.prune(T0, 1000) == len(jobs)
    transactions = re.split("BEGIN IMMEDIATE", "\n".join(seen))
    looked_at = [text.count("state <> 6") for text in transactions]
    assert [count for count in looked_at if count] == [JOBS, JOBS, 1]
    await store.close()


async def test_what_many_rate_keys_left_behind_is_pruned_to_the_last(store):
    scene = Scene(store)
    job = await scene.job(trigger=OnDemand(), rate="1/1s", rate_key="{payload.key}")
    await scene.run(*(a_request(job, T0, payload={"key": key}) for key in range(5)))
    await scene.succeed(await scene.claim(T0, limit=5), T0)
    left = [await store.prune(T0 + MINUTE, 2) for _ in range(3)]
    assert left == [2, 2, 0]  # so that the reaper goes on while there is more
    read = store.reader.call(lambda session: session.connection.execute(_RATES).fetchone())
    assert await read == (0,)


_RATES = "SELECT count(*) FROM rate"
