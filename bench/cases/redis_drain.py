"""20,000 requested runs of a no-op, already in Redis, against the bare redis-py loop."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.table import render
from tests.servers.redis import start

COUNT = 20_000
ROUNDS = 3
BAR = 0.5


def measure(options: Options) -> list[Figure]:
    """Each round fills two prefixes and drains them, first by the limit, then by ours."""
    url = start("--appendonly", "yes", "--appendfsync", "everysec").url
    rounds = [_round(url, number) for number in range(ROUNDS * options.repeat)]
    ours = [COUNT / mine["seconds"] for mine, _ in rounds]
    limits = [COUNT / bare["seconds"] for _, bare in rounds]
    cpu = median(mine["cpu"] / COUNT * 1e6 for mine, _ in rounds)
    return [
        Figure(
            name=f"drain: {COUNT:,} no-ops on Redis",
            ours=f"{median(ours):,.0f}/s, {cpu:.0f} µs CPU each",
            against=f"bare redis-py loop {median(limits):,.0f}/s",
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
    url = f"{start('--appendonly', 'yes').url}?prefix=profile"
    run_module("bench.ours.redis_drain", "fill", url, COUNT)
    run_module("bench.ours.redis_drain", "drain", url, COUNT, "profile")


def _round(url: str, number: int) -> tuple[dict[str, float], dict[str, float]]:
    bare, mine = f"bare{number}", f"{url}?prefix=ours{number}"
    run_module("bench.ours.redis_drain", "fill", f"{url}?prefix={bare}", COUNT)
    limit = run_module("bench.limits.redis_loop", url, bare)
    run_module("bench.ours.redis_drain", "fill", mine, COUNT)
    return run_module("bench.ours.redis_drain", "drain", mine, COUNT), limit


if __name__ == "__main__":
    print(render(measure(Options())))
