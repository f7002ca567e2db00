"""100,000 cron jobs added to PostgreSQL, against the same rows inserted bare."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import POSTGRES, address

COUNT = 100_000
BAR = 0.3


def measure(options: Options) -> list[Figure]:
    """Ours, then the rows that ours made into tables of the same kind."""
    if POSTGRES not in options.stores:
        return []
    ours, bare = [], []
    for _ in range(options.repeat):
        with POSTGRES.empty() as source, POSTGRES.empty() as target:
            ours.append(run_module("bench.ours.add", source, COUNT))
            run_module("bench.ours.add", target, 0)  # makes the tables
            url, schema = address(source)
            bare.append(run_module("bench.limits.postgres_insert", url, schema, address(target)[1]))
    cpu = median(each["cpu"] for each in ours) / COUNT * 1e6
    rates = [median(COUNT / each["seconds"] for each in runs) for runs in (ours, bare)]
    return [
        Figure(
            name=f"add: {COUNT:,} cron jobs on PostgreSQL",
            ours=f"{rates[0]:,.0f}/s, {cpu:.0f} µs CPU each",
            against=f"bare insert {rates[1]:,.0f}/s",
            ratios=[b["seconds"] / a["seconds"] for a, b in zip(ours, bare, strict=True)],
            bar=BAR,
            faults=[f"{each['count']:,} on record" for each in bare if each["count"] != COUNT],
            details={"ours": ours, "limit": bare},
        )
    ]
