"""One, two and four worker processes draining one store: throughput, and who did how much."""

import time
from statistics import median
from typing import Any

from bench.child import answer_of, start_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import Kind

#: 20,000 took 0.6 s, of which a crew of two needed 0.1 to connect and to prepare its statements.
COUNT = 60_000
CREWS = (2, 4)
#: Seconds until all of a crew are loaded: whoever is first would drain alone meanwhile.
READY = 3.0


def measure(options: Options) -> list[Figure]:
    """Informative on SQLite, which has one writer at a time: the question is what company costs."""
    figures = []
    for store in options.stores:
        sizes = 1, *CREWS
        rounds = [{size: _drain(store, size) for size in sizes} for _ in range(options.repeat)]
        figures += [_figure(store, rounds, size) for size in CREWS]
    return figures


def _drain(store: Kind, size: int) -> dict[str, Any]:
    with store.full(COUNT) as where:
        instant = time.time() + READY
        crew = [start_module("bench.ours.drain", where, 0, instant) for _ in range(size)]
        answers = [answer_of(each) for each in crew]
    begin = min(each["begin"] for each in answers)
    end = max(each["end"] for each in answers if each["written"])
    return {
        "rate": COUNT / (end - begin),
        "written": [each["written"] for each in answers],
        "handled": sum(each["handled"] for each in answers),
        "given_back": sum(each["given_back"] for each in answers),
    }


def _faults(run: dict[str, Any]) -> list[str]:
    totals = {"written": sum(run["written"]), "handled": run["handled"]}
    return [f"{total:,} of {COUNT:,} {word}" for word, total in totals.items() if total != COUNT]


def _figure(store: Kind, rounds: list[dict[int, dict[str, Any]]], size: int) -> Figure:
    alone, crew = ([each[n] for each in rounds] for n in (1, size))
    rates = [each["rate"] for each in crew]
    shares = sorted((100 * n / COUNT for n in crew[-1]["written"]), reverse=True)
    return Figure(
        name=f"processes: {size} draining {store.name}",
        ours=f"{median(rates):,.0f}/s, shares {' '.join(f'{each:.0f} %' for each in shares)}",
        against=f"one {median(each['rate'] for each in alone):,.0f}/s",
        ratios=[rate / one["rate"] for rate, one in zip(rates, alone, strict=True)],
        bar=store.bars.get("two") if size == 2 else None,
        faults=[fault for each in crew for fault in _faults(each)],
        details={"alone": alone, "crew": crew},
    )
