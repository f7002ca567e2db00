"""How late ten fires a second of one project start beside 100,000 due of another, against alone."""

from statistics import median
from typing import Any

from bench.cases.lateness import percentile
from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import Kind

CROWD = 100_000
SECONDS = 20
BAR = 2.0
KNOWN = ("SQLite", "PostgreSQL")


def measure(options: Options) -> list[Figure]:
    """Beside the crowd and alone, in turn."""
    return [_on(store, options) for store in options.stores if store.name in KNOWN]


def _on(store: Kind, options: Options) -> Figure:
    crowd = int(CROWD * options.part)
    rounds = [(_run(store, crowd), _run(store, 0)) for _ in range(options.repeat)]
    pairs = [(_p99(beside), _p99(alone)) for beside, alone in rounds]
    return Figure(
        name=f"fairness: 10 fires a second beside {crowd:,} due on {store.name}, p99",
        ours=f"{median(beside for beside, _ in pairs) * 1e3:.1f} ms",
        against=f"alone {median(alone for _, alone in pairs) * 1e3:.1f} ms",
        ratios=[beside / alone for beside, alone in pairs],
        bar=BAR,
        smaller_is_better=True,
        faults=[fault for each in rounds for run in each for fault in _faults(run)],
        details={"crowds": [beside["crowd"] for beside, _ in rounds], "seconds": pairs},
    )


def _run(store: Kind, crowd: int) -> dict[str, Any]:
    with store.empty() as where:
        answer: dict[str, Any] = run_module("bench.ours.fairness", where, crowd, SECONDS)
        return answer


def _p99(run: dict[str, Any]) -> float:
    return percentile(run["lateness"], 0.99)


def _faults(run: dict[str, Any]) -> list[str]:
    ran, expected = len(run["lateness"]), run["expected"]
    return [] if ran == expected else [f"{ran} of {expected} fires of the few ran"]
