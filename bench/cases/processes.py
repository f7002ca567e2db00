"""One, two and four worker processes draining one store: throughput, and who did how much."""

import time
from contextlib import ExitStack
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
        apart = [_drain(store, 2, stores=2)["rate"] for _ in range(options.repeat)]
        figures.append(_company(store, [each[2]["rate"] for each in rounds], apart))
    return figures


def _drain(store: Kind, size: int, stores: int = 1) -> dict[str, Any]:
    with ExitStack() as stack:
        places = [stack.enter_context(store.full(COUNT)) for _ in range(stores)]
        instant = time.time() + READY
        orders = [(places[n % stores], 0, instant) for n in range(size)]
        crew = [start_module("bench.ours.drain", *each) for each in orders]
        answers = [answer_of(each) for each in crew]
    begin = min(each["begin"] for each in answers)
    end = max(each["end"] for each in answers if each["written"])
    return {
        "rate": COUNT * stores / (end - begin),
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


def _company(store: Kind, together: list[float], apart: list[float]) -> Figure:
    """What the machine allows two, whatever they do: two that have nothing to share."""
    return Figure(
        name=f"processes: 2 on one place of {store.name}",
        ours=f"{median(together):,.0f}/s",
        against=f"2 on two places {median(apart):,.0f}/s",
        ratios=[a / b for a, b in zip(together, apart, strict=True)],
        bar=None,
        faults=[],
        details={"together": together, "apart": apart},
    )
