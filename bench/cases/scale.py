"""What a fire costs with 1,000,000 jobs registered, against 1,000."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import FEW, MANY, Kind

DUE = 5_000
ROUNDS = 3


def measure(options: Options) -> list[Figure]:
    """The same number of due jobs among many and among few, in turn."""
    return [figure for store in options.stores for figure in _measure(store, options.repeat)]


def _measure(store: Kind, repeat: int) -> list[Figure]:
    few, many = store.resting(FEW), store.resting(MANY)
    rounds = [
        tuple(run_module("bench.ours.fires", where, DUE) for where in (many, few))
        for _ in range(ROUNDS * repeat)
    ]
    return [
        Figure(
            name=f"scale: {word} per fire on {store.name}, {DUE:,} due",
            ours=f"{median(a[key] for a, _ in rounds) / DUE * 1e6:.0f} µs among {MANY:,}",
            against=f"{median(b[key] for _, b in rounds) / DUE * 1e6:.0f} µs among {FEW:,}",
            ratios=[among_many[key] / among_few[key] for among_many, among_few in rounds],
            bar=store.bars["scale"],
            smaller_is_better=True,
            details={"rounds": rounds},
        )
        for key, word in (("cpu", "CPU"), ("wall", "wall time"))
    ]
