"""20,000 requested runs of a no-op, already in MongoDB, against the bare pymongo loop."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.table import render
from tests.servers.mongo import server

COUNT = 20_000
ROUNDS = 3
BAR = 0.5


def measure(options: Options) -> list[Figure]:
    """Each round fills two databases and drains them, first by the limit, then by ours."""
    rounds = [_round(number) for number in range(ROUNDS * options.repeat)]
    ours = [COUNT / mine["seconds"] for mine, _ in rounds]
    limits = [COUNT / bare["seconds"] for _, bare in rounds]
    cpu = median(mine["cpu"] / COUNT * 1e6 for mine, _ in rounds)
    return [
        Figure(
            name=f"drain: {COUNT:,} no-ops on MongoDB",
            ours=f"{median(ours):,.0f}/s, {cpu:.0f} µs CPU each",
            against=f"bare pymongo loop {median(limits):,.0f}/s",
            ratios=[mine / bare for mine, bare in zip(ours, limits, strict=True)],
            bar=BAR,
            faults=[
                f"{mine['handled']:,} handled, {mine['written']:,} written"
                for mine, _ in rounds
                if not mine["handled"] == mine["written"] == COUNT
            ],
            details={"ours": [mine for mine, _ in rounds], "limit": [bare for _, bare in rounds]},
        )
    ]


def profile() -> None:
    """Drain once under a sampler, which prints where the CPU went."""
    url = server().url("bench_profile")
    run_module("bench.ours.enqueue", url, COUNT)
    run_module("bench.ours.drain", url, COUNT, "profile")


def _round(number: int) -> tuple[dict[str, float], dict[str, float]]:
    bare, ours = (server().url(f"bench_{name}_{number}") for name in ("bare", "ours"))
    run_module("bench.ours.enqueue", bare, COUNT)
    limit = run_module("bench.limits.mongo_loop", bare)
    run_module("bench.ours.enqueue", ours, COUNT)
    return run_module("bench.ours.drain", ours, COUNT), limit


if __name__ == "__main__":
    print(render(measure(Options())))
