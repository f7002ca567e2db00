"""A history moved from SQLite into PostgreSQL by `tickwell store copy`."""

from statistics import median

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import POSTGRES, SQLITE, Kind

COUNT = 100_000
#: Executions a second; their verification, which reads the target once more, is told beside it.
WANTED = 5_000


def measure(options: Options) -> list[Figure]:
    """Each round into an empty store, from the same file."""
    chosen = options.stores if options.store else [POSTGRES]
    count = int(COUNT * options.part)
    with SQLITE.empty() as source:
        run_module("bench.ours.copy", "fill", source, count)
        return [_figure(source, store, options.repeat) for store in chosen]


def _figure(source: str, store: Kind, repeat: int) -> Figure:
    rounds = [_measured(source, store) for _ in range(repeat)]
    rates = [each["executions"] / each["copy"] for each in rounds]
    whole = median(each["executions"] / (each["copy"] + each["verify"]) for each in rounds)
    return Figure(
        name=f"store copy: {rounds[0]['executions']:,} executions from SQLite to {store.name}",
        ours=f"{median(rates):,.0f} executions/s; {whole:,.0f}/s with the verification",
        against=f"wanted {WANTED:,}/s",
        ratios=[rate / WANTED for rate in rates],
        bar=1.0 if store.name == POSTGRES.name else None,
        details={"rounds": rounds},
    )


def _measured(source: str, store: Kind) -> dict[str, float]:
    with store.empty() as target:
        answer: dict[str, float] = run_module("bench.ours.copy", "move", source, target)
        return answer
