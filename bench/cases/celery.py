"""Celery as the engine: against Celery alone, and against Celery beat with RedBeat."""

import os
from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import REDIS
from tests.servers import redis

COUNT, ROUNDS = 3_000, 3
#: Of both alike. Celery's default is prefork.
POOLS = {"prefork": "-P prefork -c 4", "threads": "-P threads -c 20"}
JOBS, SECONDS = 1_000, 20


def measure(options: Options) -> list[Figure]:
    """Both with one worker of the same pool, on one Redis, in turn."""
    rounds, count = ROUNDS * options.repeat, max(int(COUNT * options.part), 100)
    drains = [_drain(pool, rounds, count) for pool in POOLS]
    os.environ["BENCH_POOL"] = POOLS["prefork"]
    return [*drains, _lateness(options)]


def _drain(pool: str, rounds: int, count: int) -> Figure:
    os.environ["BENCH_POOL"] = POOLS[pool]  # of the processes that are started
    ours, bare = [], []
    for _ in range(rounds):
        broker = redis.start()
        bare.append(run_module("bench.peers.celery_drain", broker.url, count))
        with REDIS.empty() as where:
            broker_url = broker.url.replace("/0", "/1")
            ours.append(run_module("bench.ours.celery_drain", where, broker_url, count))
        broker.stop()
    return Figure(
        name=f"celery: {count:,} no-ops through Celery's workers, Redis, {pool}",
        ours=_in_words(ours, count),
        against=f"bare send_task {_in_words(bare, count)}",
        ratios=[b["seconds"] / a["seconds"] for a, b in zip(ours, bare, strict=True)],
        bar=0.8,
        faults=[f"{each['written']:,} written" for each in ours if each["written"] != count],
        details={"ours": ours, "bare": bare},
    )


def _in_words(rounds: list[dict[str, float]], count: int) -> str:
    rate = median(count / each["seconds"] for each in rounds)
    return f"{rate:,.0f}/s, {median(each['cpu'] for each in rounds) / count * 1e6:,.0f} µs CPU each"


def _lateness(options: Options) -> Figure:
    jobs = max(int(JOBS * options.part), 10)
    broker = redis.start()
    beat = run_module("bench.peers.celery_beat", broker.url, jobs, SECONDS)
    with REDIS.empty() as where:
        broker_url = broker.url.replace("/0", "/1")
        ours = run_module("bench.ours.celery_lateness", where, broker_url, jobs, SECONDS)
    broker.stop()
    return Figure(
        name=f"celery: fire time to start, {jobs:,} jobs each second",
        ours=f"p99 {ours['p99']:.2f} s, {ours['started']:,} of {ours['due']:,} started",
        against=f"RedBeat p99 {beat['p99']:.2f} s, {beat['started']:,} of {beat['due']:,} started",
        ratios=[ours["p99"] / beat["p99"]],
        bar=0.05,
        smaller_is_better=True,
        details={"ours": ours, "beat": beat},
    )
