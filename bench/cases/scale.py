"""What a fire costs with 1,000,000 jobs registered, against 1,000."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.resting import FEW, MANY, resting_jobs

DUE = 5_000
ROUNDS = 3
BAR = 1.3


def measure(options: Options) -> list[Figure]:
    """The same number of due jobs among many and among few, in turn."""
    few, many = resting_jobs(FEW), resting_jobs(MANY)
    rounds = [
        tuple(run_module("bench.ours.fires", path, DUE) for path in (many, few))
        for _ in range(ROUNDS * options.repeat)
    ]
    return [
        Figure(
            name=f"scale: {word} per fire, {DUE:,} due",
            ours=f"{median(a[key] for a, _ in rounds) / DUE * 1e6:.0f} µs among {MANY:,}",
            against=f"{median(b[key] for _, b in rounds) / DUE * 1e6:.0f} µs among {FEW:,}",
            ratios=[among_many[key] / among_few[key] for among_many, among_few in rounds],
            bar=BAR,
            smaller_is_better=True,
            details={"rounds": rounds},
        )
        for key, word in (("cpu", "CPU"), ("wall", "wall time"))
    ]
