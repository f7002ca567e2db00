"""Steps of executions: how many a second one process writes, and one against a heartbeat."""

from typing import Any

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import POSTGRES, SQLITE, Kind

ROUNDS = 5
COUNT = 20_000
#: Steps a second of one process on PostgreSQL.
WANTED = 10_000
#: What a step may cost, in heartbeats.
MOST = 1.5


def measure(options: Options) -> list[Figure]:
    """Two rows for each store."""
    chosen = options.stores if options.store else [SQLITE, POSTGRES]
    return [figure for store in chosen for figure in figures(store, ROUNDS * options.repeat)]


def figures(store: Kind, rounds: int) -> list[Figure]:
    """Steps of many attempts together, and one step after the other."""
    found = [_measured(store) for _ in range(rounds)]
    last = found[-1]
    return [
        Figure(
            name=f"steps of 100 attempts on {store.name}",
            ours=f"{last['rate']:,.0f}/s",
            against=f"{WANTED:,}/s",
            ratios=[each["rate"] / WANTED for each in found],
            bar=1.0 if store is POSTGRES else None,
            details={"rounds": found},
        ),
        Figure(
            name=f"one step on {store.name}",
            ours=f"{last['step'] * 1000:.2f} ms",
            against=f"a heartbeat {last['beat'] * 1000:.2f} ms",
            ratios=[each["step"] / each["beat"] for each in found],
            bar=MOST,
            smaller_is_better=True,
        ),
    ]


def _measured(store: Kind) -> dict[str, Any]:
    with store.empty() as where:
        answer: dict[str, Any] = run_module("bench.ours.steps", where, COUNT)
        return answer
