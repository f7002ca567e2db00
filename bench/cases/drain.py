"""20,000 requested runs of a no-op, already in the SQLite store, against the bare loop."""

from pathlib import Path
from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.place import copy_database, scratch

COUNT = 20_000
ROUNDS = 3
BAR = 0.5


def measure(options: Options) -> list[Figure]:
    """Each round drains two copies of one file, first by the limit, then by ours."""
    with scratch() as folder:
        full = enqueued(folder, COUNT)
        rounds = [_round(full) for _ in range(ROUNDS * options.repeat)]
    ours = [COUNT / mine["seconds"] for mine, _ in rounds]
    limits = [COUNT / bare["seconds"] for _, bare in rounds]
    cpu = median(mine["cpu"] / COUNT * 1e6 for mine, _ in rounds)
    return [
        Figure(
            name=f"drain: {COUNT:,} no-ops on SQLite",
            ours=f"{median(ours):,.0f}/s, {cpu:.0f} µs CPU each",
            against=f"bare loop {median(limits):,.0f}/s",
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
    with scratch() as folder:
        run_module("bench.ours.drain", enqueued(folder, COUNT), COUNT, "profile")


def enqueued(folder: Path, count: int) -> Path:
    """A closed SQLite file with so many runs in it."""
    path = folder / "full.db"
    run_module("bench.ours.enqueue", path, count)
    return path


def _round(full: Path) -> tuple[dict[str, float], dict[str, float]]:
    with scratch() as place:
        bare = run_module("bench.limits.sqlite_loop", copy_database(full, place / "bare.db"))
        mine = run_module("bench.ours.drain", copy_database(full, place / "mine.db"), COUNT)
    return mine, bare
