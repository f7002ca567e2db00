"""1,000 rated keys, always with a backlog, and two processes: never above a limit, barely below."""

import time
from typing import Any

from bench.child import answer_of, run_module, start_module
from bench.figure import Figure
from bench.options import Options
from bench.ours.rates import KEYS, LIMIT, PERIOD
from bench.stores import POSTGRES, Kind

PROCESSES = 2
#: Seconds until both are loaded; then a period until they are at work; then what is measured.
READY, SECONDS = 5.0, 40.0
#: The part of the permitted rate that has to be used.
WANTED = 0.95


def measure(options: Options) -> list[Figure]:
    """Starts as they are on record; a permit is in use for a period from its start on."""
    chosen = options.stores if options.store else [POSTGRES]
    return [_figure(store, options.repeat) for store in chosen]


def _figure(store: Kind, repeat: int) -> Figure:
    rounds = [_measured(store) for _ in range(repeat)]
    allowed = KEYS * LIMIT * 1000 / PERIOD
    return Figure(
        name=f"rates: {KEYS:,} keys, {PROCESSES} processes on {store.name}",
        ours=f"{rounds[-1]['used'] * allowed:.1f} starts/s, {rounds[-1]['too_many']} too early",
        against=f"permitted {allowed:.0f}/s",
        ratios=[each["used"] for each in rounds],
        bar=WANTED,
        faults=[
            f"{each['too_many']} starts above a limit in a period"
            for each in rounds
            if each["too_many"]
        ],
        details={"rounds": rounds},
    )


def _measured(store: Kind) -> dict[str, Any]:
    with store.empty() as where:
        filled = run_module("bench.ours.rates", "fill", where)
        instant = time.time() + READY
        seconds = PERIOD / 1000 + SECONDS
        orders = "bench.ours.rates", "work", where, instant, seconds
        crew = [start_module(*orders) for _ in range(PROCESSES)]
        handled = [answer_of(each)["handled"] for each in crew]
        end = int((instant + seconds) * 1000)
        span = end - int(SECONDS * 1000), end
        answer: dict[str, Any] = run_module("bench.ours.rates", "judge", where, *span)
        return answer | filled | {"handled": handled}
