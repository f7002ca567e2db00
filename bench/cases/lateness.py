"""How late handlers start: 1,000 cron jobs every second, and 10,000 jobs on one instant."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.child import run_module, run_script
from bench.figure import Figure
from bench.options import Options
from bench.peers.environment import peer_python
from bench.stores import Kind

PEER = Path(__file__).parent.parent / "peers" / "apscheduler3.py"
JOBS = 1_000
SECONDS = 20
BURST = 10_000

#: What ours and the peer did, one after the other.
Round = tuple[dict[str, Any], dict[str, Any]]


def measure(options: Options) -> list[Figure]:
    """Ours on each store and the peer one after the other, in turn when repeated."""
    steady = [_round(options.stores, "cron", JOBS, SECONDS) for _ in range(options.repeat)]
    burst = [_round(options.stores, "once", BURST, 1) for _ in range(options.repeat)]
    figures = []
    for store in options.stores:
        words = f"on {store.name}, p99"
        figures += [
            _figure(
                f"lateness: {JOBS:,} jobs a second {words}",
                [each[store.name] for each in steady],
                store.bars.get("cron"),
            ),
            _figure(
                f"lateness: {BURST:,} jobs at once {words}",
                [each[store.name] for each in burst],
                store.bars.get("once"),
            ),
        ]
    return figures


def _round(stores: Sequence[Kind], kind: str, jobs: int, seconds: int) -> dict[str, Round]:
    peers_word = "date" if kind == "once" else kind
    theirs = run_script(peer_python(), PEER, peers_word, jobs, seconds)
    rounds = {}
    for store in stores:
        with store.empty() as where:
            ours = run_module("bench.ours.lateness", where, kind, jobs, seconds)
        rounds[store.name] = ours, theirs
    return rounds


def _figure(name: str, rounds: Sequence[Round], bar: float | None) -> Figure:
    # A run in which nothing fired has no lateness; its fault says so.
    ratios = [
        percentile(ours["lateness"], 0.99) / percentile(theirs["lateness"], 0.99)
        for ours, theirs in rounds
        if ours["lateness"] and theirs["lateness"]
    ]
    return Figure(
        name=name,
        ours=_in_words([ours for ours, _ in rounds]),
        against=f"APScheduler 3 in memory {_in_words([theirs for _, theirs in rounds])}",
        ratios=ratios,
        bar=bar,
        smaller_is_better=True,
        faults=[fault for ours, _ in rounds for fault in _faults(ours)],
        details={"rounds": [(_summary(ours), _summary(theirs)) for ours, theirs in rounds]},
    )


def _faults(ours: dict[str, Any]) -> list[str]:
    faults = []
    if ours["fired"] != ours["expected"]:
        faults.append(f"{ours['fired']:,} of {ours['expected']:,} fired; {ours['states']}")
    faults += [f"{ours[word]:,} {word}" for word in ("early", "twice") if ours[word]]
    return faults


def _in_words(runs: Sequence[dict[str, Any]]) -> str:
    p50, p99 = (
        median(percentile(run["lateness"], share) * 1000 for run in runs) for share in (0.5, 0.99)
    )
    return f"{p50:.1f} / {p99:.1f} ms"


def _summary(run: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in run.items() if key != "lateness"}
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    return kept | {word: percentile(run["lateness"], share) for word, share in shares.items()}


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so many are not above; infinite when there are none."""
    if not values:
        return float("inf")
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
