"""How late ten fires a second of one project start beside 100,000 of another, against alone."""

from statistics import median
from typing import Any

from bench.cases.lateness import percentile
from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import Kind

CROWD = 100_000
#: At most, of each run: a crowd is gone sooner, and what comes after it says nothing.
SECONDS = 20
#: Runs that are taken together: of the 50 to 200 fires of one, p99 is the worst or the next.
TIMES = 4
BAR = 2.0
KNOWN = ("SQLite", "PostgreSQL")
KINDS = ("due", "queued")

#: Runs beside a crowd, and as long ones alone.
Round = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def measure(options: Options) -> list[Figure]:
    """Beside a crowd that is due, beside one that is queued; and alone, in turn."""
    stores = [store for store in options.stores if store.name in KNOWN]
    return [_on(store, kind, options) for store in stores for kind in KINDS]


def _on(store: Kind, kind: str, options: Options) -> Figure:
    crowd = int(CROWD * options.part)
    rounds = [_round(store, kind, crowd) for _ in range(options.repeat)]
    pairs = [(_p99(beside), _p99(alone)) for beside, alone in rounds]
    return Figure(
        name=f"fairness: 10 fires a second beside {crowd:,} {kind} on {store.name}, p99",
        ours=f"{median(beside for beside, _ in pairs) * 1e3:.1f} ms",
        against=f"alone {median(alone for _, alone in pairs) * 1e3:.1f} ms",
        ratios=[beside / alone for beside, alone in pairs],
        bar=BAR,
        smaller_is_better=True,
        faults=[
            fault for beside, alone in rounds for run in beside + alone for fault in _faults(run)
        ],
        details={
            "crowds": [run["crowd"] for beside, _ in rounds for run in beside],
            "fires": [run["expected"] for beside, _ in rounds for run in beside],
            "seconds": pairs,
        },
    )


def _round(store: Kind, kind: str, crowd: int) -> Round:
    """Alone as many fires as beside the crowd: the worst of more are worse."""
    beside, alone = [], []
    for _ in range(TIMES):
        beside.append(_run(store, kind, crowd, SECONDS))
        alone.append(_run(store, kind, 0, beside[-1]["expected"] // 10 + 1))
    return beside, alone


def _run(store: Kind, kind: str, crowd: int, seconds: int) -> dict[str, Any]:
    with store.empty() as where:
        answer: dict[str, Any] = run_module("bench.ours.fairness", where, kind, crowd, seconds)
        return answer


def _p99(runs: list[dict[str, Any]]) -> float:
    return percentile([late for run in runs for late in run["lateness"]], 0.99)


def _faults(run: dict[str, Any]) -> list[str]:
    ran, expected = len(run["lateness"]), run["expected"]
    return [] if ran == expected else [f"{ran} of {expected} fires of the few ran"]
