"""`python -m bench [names...]`: measure, print one table, exit 1 if a bar is missed."""

import argparse
import json
import sys
import time
from collections.abc import Callable

from bench.cases import (
    add,
    api_create,
    api_load,
    bloat,
    celery,
    copy,
    cron,
    drain,
    dramatiq,
    fairness,
    idle,
    lateness,
    lists,
    pages,
    pgqueuer,
    processes,
    rates,
    scale,
    signals,
    start,
    steps,
    travel,
    webhooks,
)
from bench.child import ChildFailed
from bench.figure import Figure
from bench.options import Options
from bench.stores import STORES
from bench.table import render

CASES: dict[str, Callable[[Options], list[Figure]]] = {
    "cron": cron.measure,
    "start": start.measure,
    "drain": drain.measure,
    "pgqueuer": pgqueuer.measure,
    "dramatiq": dramatiq.measure,
    "processes": processes.measure,
    "lateness": lateness.measure,
    "scale": scale.measure,
    "idle": idle.measure,
    "add": add.measure,
    "api": api_create.measure,
    "pages": pages.measure,
    "webhooks": webhooks.measure,
}
#: Only when they are asked for: they take minutes.
LONG: dict[str, Callable[[Options], list[Figure]]] = {
    "bloat": bloat.measure,
    "celery": celery.measure,
    "lists": lists.measure,
    "fairness": fairness.measure,
    "api_load": api_load.measure,
    "copy": copy.measure,
    "signals": signals.measure,
    "steps": steps.measure,
    "rates": rates.measure,
    "travel": travel.measure,
}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    every, long = ", ".join(CASES), ", ".join(LONG)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {every}; all; or {long}")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="N times the rounds")
    parser.add_argument("--store", choices=list(STORES), default="", help="one store; all")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long bloat goes on")
    parser.add_argument(
        "--part", type=float, default=1.0, help="fraction of the data of lists, fairness, signals"
    )
    parser.add_argument("--json", action="store_true", help="print figures with all details")
    parser.add_argument(
        "--profile", action="store_true", help="instead: CPU per execution of a drain, by part"
    )
    asked = parser.parse_args()
    unknown = set(asked.names) - set(CASES) - set(LONG)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    options = Options(
        repeat=max(asked.repeat, 1), store=asked.store, minutes=asked.minutes, part=asked.part
    )
    if asked.profile:
        drain.profile(options)
        return 0
    figures = _measure(asked.names or list(CASES), options)
    if asked.json:
        print(json.dumps([figure.as_json() for figure in figures], indent=2))
    else:
        print(render(figures))
    return 0 if all(figure.passed for figure in figures) else 1


def _measure(names: list[str], options: Options) -> list[Figure]:
    figures = []
    for name in names:
        begin = time.monotonic()
        print(f"bench: {name}", end="", file=sys.stderr, flush=True)
        try:
            figures += (CASES | LONG)[name](options)
        except ChildFailed as error:
            figures.append(Figure(name=name, ours="", against="", faults=[str(error)]))
        print(f" {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return figures


if __name__ == "__main__":
    sys.exit(main())
