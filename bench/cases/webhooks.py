"""Webhooks to a receiver in a process of its own: against the bare client, and procrastinate.

A rate is counted from the first arrival to the last report written (or answer, without a store):
what it takes to start is nobody's rate.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench.cases.lateness import percentile
from bench.child import ROOT, run_module, run_script
from bench.figure import Figure
from bench.options import Options
from bench.peers.environment import peer_python
from bench.stores import POSTGRES, SQLITE, Kind, address
from tests.servers.postgres import server

PEER = Path(__file__).parent.parent / "peers" / "procrastinate_webhooks.py"
COUNT = 20_000
#: The peer sends a few hundred a second.
FEW = 1_000
BURST = 1_000
ROUNDS = 3
BAR, PEER_BAR, BURST_BAR = 0.6, 5.0, 2.0

#: What one who sends tells; `arrivals` are what the receiver heard of it.
Sent = dict[str, Any]


def measure(options: Options) -> list[Figure]:
    """Each round in turn: the limit, ours on each store, the peer."""
    asked = options.stores
    figures = [_against_bare(store, options) for store in (SQLITE, POSTGRES) if store in asked]
    if POSTGRES in asked:
        figures.append(_against_procrastinate(options))
    if SQLITE in asked:
        figures.append(_burst(options))
    return figures


def _against_bare(store: Kind, options: Options) -> Figure:
    limits, ours = [], []
    for _ in range(ROUNDS * options.repeat):
        limits.append(bare(COUNT))
        ours.append(drained(store, COUNT))
    return Figure(
        name=f"webhooks: {COUNT:,} on {store.name}",
        ours=_in_words(ours),
        against=f"bare client {_in_words(limits)}",
        ratios=[_rate(a) / _rate(b) for a, b in zip(ours, limits, strict=True)],
        bar=BAR,
        faults=_faults(ours, COUNT) + _faults(limits, COUNT),
        details={"ours": _without_arrivals(ours), "limit": _without_arrivals(limits)},
    )


def _against_procrastinate(options: Options) -> Figure:
    peers, ours = [], []
    for _ in range(options.repeat):
        peers.append(
            _heard(lambda url: run_script(peer_python(), PEER, server(on_disk=True).url, FEW, url))
        )
        ours.append(drained(POSTGRES, COUNT))
    return Figure(
        name="webhooks: on PostgreSQL",
        ours=_in_words(ours),
        against=f"procrastinate + aiohttp {_in_words(peers)}",
        ratios=[_rate(a) / _rate(b) for a, b in zip(ours, peers, strict=True)],
        bar=PEER_BAR,
        faults=_faults(ours, COUNT) + _faults(peers, FEW),
        details={"ours": _without_arrivals(ours), "peer": _without_arrivals(peers)},
    )


def _burst(options: Options) -> Figure:
    limits, ours = [], []
    for _ in range(ROUNDS * options.repeat):
        limits.append(bare(BURST))
        with SQLITE.empty() as where:
            ours.append(
                _heard(lambda url: run_module("bench.ours.webhooks", "once", where, BURST, url))
            )
    return Figure(
        name=f"webhooks: {BURST:,} at one instant on SQLite, p99 of arrival",
        ours=f"{median(map(_p99, ours)) * 1000:.0f} ms",
        against=f"bare client {median(map(_p99, limits)) * 1000:.0f} ms",
        ratios=[_p99(a) / _p99(b) for a, b in zip(ours, limits, strict=True)],
        bar=BURST_BAR,
        smaller_is_better=True,
        faults=_faults(ours, BURST) + _faults(limits, BURST) + _early(ours),
        details={"ours": _without_arrivals(ours), "limit": _without_arrivals(limits)},
    )


def bare(count: int) -> Sent:
    """By the client alone."""
    return _heard(lambda url: run_module("bench.limits.bare_http", count, url))


def drained(store: Kind, count: int, *words: str) -> Sent:
    """By ours, from a store that is full of them."""
    module = "bench.ours.webhooks"

    def send(url: str) -> Any:
        with store.empty() as where:
            run_module(module, "fill", where, count, url)
            if store is POSTGRES:
                run_module("bench.schema", *address(where), "tidy")
            return run_module(module, "drain", where, count, url, *words)

    return _heard(send)


def _heard(send: Callable[[str], Any]) -> Sent:
    """What the sender says, and when the receiver had which."""
    command = [sys.executable, "-m", "bench.ours.receiver"]
    child = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    try:
        sent: Sent = send(f"http://127.0.0.1:{int(child.stdout.readline())}/hook")
    finally:
        out, _ = child.communicate()
    return sent | {"arrivals": json.loads(out)}


def _rate(sent: Sent) -> float:
    arrivals = sent["arrivals"]
    return len(arrivals) / (sent["ended"] - arrivals[0]) if arrivals else 0.0


def _p99(sent: Sent) -> float:
    return percentile([at - sent["instant"] for at in sent["arrivals"]], 0.99)


def _in_words(rounds: list[Sent]) -> str:
    rate = median(map(_rate, rounds))
    cpu = median(each["cpu"] / max(len(each["arrivals"]), 1) for each in rounds)
    return f"{rate:,.0f}/s, {cpu * 1e6:.0f} µs CPU each"


def _faults(rounds: list[Sent], count: int) -> list[str]:
    """Whether all were sent, and once."""
    return [
        f"{each['sent']:,} sent, {len(each['arrivals']):,} arrived"
        for each in rounds
        if not each["sent"] == len(each["arrivals"]) == count
    ]


def _early(rounds: list[Sent]) -> list[str]:
    early = sum(at < each["instant"] for each in rounds for at in each["arrivals"])
    return [f"{early:,} early"] if early else []


def _without_arrivals(rounds: list[Sent]) -> list[Sent]:
    return [{key: each[key] for key in each if key != "arrivals"} for each in rounds]
