"""20,000 requested runs of a no-op, already in PostgreSQL, against the bare asyncpg loop."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.table import render
from tests.servers.postgres import server

COUNT = 20_000
ROUNDS = 3
BAR = 0.7


def measure(options: Options) -> list[Figure]:
    """Each round fills a schema twice and drains it, first by the limit, then by ours."""
    rounds = [_round() for _ in range(ROUNDS * options.repeat)]
    ours = [COUNT / mine["seconds"] for mine, _ in rounds]
    limits = [COUNT / bare["seconds"] for _, bare in rounds]
    cpu = median(mine["cpu"] / COUNT * 1e6 for mine, _ in rounds)
    return [
        Figure(
            name=f"drain: {COUNT:,} no-ops on PostgreSQL",
            ours=f"{median(ours):,.0f}/s, {cpu:.0f} µs CPU each",
            against=f"bare asyncpg loop {median(limits):,.0f}/s",
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
    _fill("bench_profile")
    run_module("bench.ours.postgres_drain", "drain", _url("bench_profile"), COUNT, "profile")


def _round() -> tuple[dict[str, float], dict[str, float]]:
    # Two schemas alike, so that neither begins with the other's dead rows.
    _fill("bench_bare")
    bare = run_module("bench.limits.postgres_loop", server().url, "bench_bare")
    _fill("bench_ours")
    mine = run_module("bench.ours.postgres_drain", "drain", _url("bench_ours"), COUNT)
    return mine, bare


def _fill(schema: str) -> None:
    run_module("bench.drop_schema", server().url, schema)
    run_module("bench.ours.postgres_drain", "fill", _url(schema), COUNT)


def _url(schema: str) -> str:
    return f"{server().url}?schema={schema}"


if __name__ == "__main__":
    print(render(measure(Options())))
