"""The drain beside 100 attempts that log ten lines a second each, against the same in silence."""

from statistics import median
from typing import Any

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import POSTGRES, SQLITE, Kind

#: Enough for seconds of draining: lines are written twice a second.
COUNT = 100_000
ROUNDS = 5
LINES = 10
#: Writes of lines a second, at most: however many attempts print.
MOST_WRITES = 4


def measure(options: Options) -> list[Figure]:
    """A row for each store."""
    chosen = options.stores if options.store else [SQLITE, POSTGRES]
    return [figure(store, ROUNDS * options.repeat) for store in chosen]


def figure(store: Kind, rounds: int) -> Figure:
    """Live output costs at most a tenth of the drain rate beside it."""
    silent, loud = [], []
    for number in range(rounds):
        # Whoever comes second may find the machine warmer: they take turns.
        for lines in (0, LINES) if number % 2 else (LINES, 0):
            (loud if lines else silent).append(_drained(store, lines))
    return Figure(
        name=f"live output: 100 attempts, {LINES} lines/s each, on {store.name}",
        ours=f"{_rate(loud):,.0f}/s, {median(each['puts'] for each in loud):.1f} writes/s",
        against=f"silent {_rate(silent):,.0f}/s",
        ratios=[a["rate"] / b["rate"] for a, b in zip(loud, silent, strict=True)],
        bar=0.9,
        faults=[*map(_fault, filter(_fault, loud))],
        details={"loud": loud, "silent": silent},
    )


def _drained(store: Kind, lines: int) -> dict[str, Any]:
    with store.full(COUNT) as where:
        answer: dict[str, Any] = run_module("bench.ours.live_output", where, COUNT, lines)
    return answer


def _rate(rounds: list[dict[str, Any]]) -> float:
    return median(each["rate"] for each in rounds)


def _fault(one: dict[str, Any]) -> str:
    """Whether lines were written while they ran, and in few writes."""
    if one["handled"] != COUNT:
        return f"{one['handled']:,} handled"
    if not one["records"] or one["puts"] > MOST_WRITES:
        return f"{one['puts']:.1f} writes and {one['records']:.0f} records a second"
    return ""
