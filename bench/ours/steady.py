"""A steady load with short retention: `python -m bench.ours.steady URL SCHEMA MINUTES`.

Every ten seconds a line tells what the tables hold, on standard error.
"""

import asyncio
import sys
import time
from dataclasses import replace
from typing import Any

import asyncpg

from bench.ours.process import add_jobs, make_engine, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.policy import Retention
from tickwell.domain.trigger import Every

JOBS = 300
#: Executions that are kept of each job.
KEPT = 20
EACH = 10.0
LOOK = """
SELECT sum(n_live_tup)::bigint AS live, sum(n_dead_tup)::bigint AS dead,
       sum(pg_total_relation_size(relid))::bigint AS bytes,
       sum(autovacuum_count)::bigint AS vacuums,
       sum(n_tup_hot_upd)::bigint AS hot, sum(n_tup_upd)::bigint AS updates
FROM pg_stat_user_tables WHERE schemaname = $1"""


async def steady(url: str, schema: str, minutes: float) -> dict[str, Any]:
    """Jobs that fire every second, and what is left of their executions."""
    handled = 0

    async def noop() -> None:
        nonlocal handled
        handled += 1

    where, now = f"{url}?schema={schema}", wall_millis()
    store = open_store(where)
    await store.open()
    jobs = [make_job(number, "noop", Every("1s"), now) for number in range(JOBS)]
    kept = Retention(count=KEPT)
    await add_jobs(store, (replace(job, retention=kept) for job in jobs), now)
    engine = make_engine(store, {"noop": noop}, where)
    # Rounds of pruning come more often than in production, since minutes stand for days.
    engine.settings = replace(engine.settings, prune_every=5.0)
    for loop in engine._loops.values():  # noqa: SLF001 - there is no other way
        if hasattr(loop.service, "housekeeping"):
            loop.service.housekeeping.settings = engine.settings
    await engine.start()
    samples = await _watch(url, schema, minutes * 60)
    await engine.stop()
    await store.close()
    return {"handled": handled, "samples": samples}


async def _watch(url: str, schema: str, seconds: float) -> list[dict[str, Any]]:
    connection = await asyncpg.connect(url)
    samples: list[dict[str, Any]] = []
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        await asyncio.sleep(EACH)
        found = await connection.fetchrow(LOOK, schema)
        samples.append({"seconds": time.monotonic() - begin, **dict(found)})
        print(_in_words(samples[-1]), file=sys.stderr)
    await connection.close()
    return samples


def _in_words(sample: dict[str, Any]) -> str:
    return (
        f"{sample['seconds']:5.0f} s: {sample['live']:,} live, {sample['dead']:,} dead,"
        f" {sample['bytes'] / 2**20:.1f} MB, {sample['vacuums']} vacuums,"
        f" {sample['hot'] / max(sample['updates'], 1):.0%} of updates in their page"
    )


if __name__ == "__main__":
    run(steady(sys.argv[1], sys.argv[2], float(sys.argv[3])))
