"""A virtual day of a test in which nothing is due: `await tickwell.travel("1d")`."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options

DAYS, ROUNDS = 200, 3
#: Seconds that the median of them may take.
MOST = 0.005


def measure(options: Options) -> list[Figure]:
    """Of a kit that has started; each round is a process of its own."""
    rounds = [
        run_module("bench.ours.travel", DAYS)["seconds"] for _ in range(ROUNDS * options.repeat)
    ]
    medians = [median(each) for each in rounds]
    return [
        Figure(
            name="travel: an idle virtual day",
            ours=f"{median(medians) * 1000:.2f} ms",
            against=f"{MOST * 1000:.0f} ms",
            ratios=[each / MOST for each in medians],
            bar=1,
            smaller_is_better=True,
            details={"seconds": rounds},
        )
    ]
