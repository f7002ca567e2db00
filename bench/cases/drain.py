"""20,000 requested runs of a no-op, already in the store, against the bare loop on its tables."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import Kind

COUNT = 20_000
ROUNDS = 3


def measure(options: Options) -> list[Figure]:
    """Each round drains two stores alike, first by the limit, then by ours."""
    return [_figure(store, ROUNDS * options.repeat) for store in options.stores]


def profile(options: Options) -> None:
    """Drain once under a sampler, which prints where the CPU went."""
    for store in options.stores:
        with store.full(COUNT) as where:
            run_module("bench.ours.drain", where, COUNT, "profile")


def drained(store: Kind) -> dict[str, float]:
    """By ours."""
    with store.full(COUNT) as where:
        answer: dict[str, float] = run_module("bench.ours.drain", where, COUNT)
    return answer


def in_words(rounds: list[dict[str, float]]) -> str:
    """Rate, and CPU of the process that is measured."""
    rate = median(COUNT / each["seconds"] for each in rounds)
    return f"{rate:,.0f}/s, {median(each['cpu'] for each in rounds) / COUNT * 1e6:.0f} µs CPU each"


def faults(rounds: list[dict[str, float]]) -> list[str]:
    """Whether all of it was done, and once."""
    return [
        f"{each['handled']:,} handled, {each['written']:,} written"
        for each in rounds
        if not each["handled"] == each["written"] == COUNT
    ]


def _figure(store: Kind, rounds: int) -> Figure:
    limits, ours = [], []
    for _ in range(rounds):
        with store.full(COUNT) as where:
            limits.append(store.bare(where))
        ours.append(drained(store))
    rate = median(COUNT / each["seconds"] for each in limits)
    return Figure(
        name=f"drain: {COUNT:,} no-ops on {store.name}",
        ours=in_words(ours),
        against=f"bare loop {rate:,.0f}/s",
        ratios=[b["seconds"] / a["seconds"] for a, b in zip(ours, limits, strict=True)],
        bar=store.bars["drain"],
        faults=faults(ours),
        details={"ours": ours, "limit": limits},
    )
