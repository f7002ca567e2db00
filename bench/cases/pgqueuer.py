"""The drain on PostgreSQL against PGQueuer, and against a bare loop that is pipelined."""

from pathlib import Path
from statistics import median

from bench.cases.drain import COUNT, drained, faults, in_words
from bench.child import run_script
from bench.figure import Figure
from bench.options import Options
from bench.peers.environment import peer_python
from bench.stores import POSTGRES
from tests.servers.postgres import server

PEER = Path(__file__).parent.parent / "peers" / "pgqueuer_drain.py"
ROUNDS = 3


def measure(options: Options) -> list[Figure]:
    """All three in turn."""
    if POSTGRES not in options.stores:
        return []
    ours, peers, piped = [], [], []
    for _ in range(ROUNDS * options.repeat):
        peers.append(run_script(peer_python(), PEER, server(on_disk=True).url, COUNT))
        with POSTGRES.full(COUNT) as where:
            piped.append(POSTGRES.bare(where, "pipelined"))
        ours.append(drained(POSTGRES))
    return [
        Figure(
            name=f"pgqueuer: {COUNT:,} no-ops on PostgreSQL",
            ours=in_words(ours),
            against=f"PGQueuer {in_words(peers)}",
            ratios=[b["seconds"] / a["seconds"] for a, b in zip(ours, peers, strict=True)],
            bar=POSTGRES.bars["pgqueuer"],
            faults=faults(ours)
            + [f"PGQueuer handled {each['handled']}" for each in peers if each["handled"] != COUNT],
            details={"ours": ours, "peer": peers},
        ),
        Figure(
            name="pgqueuer: the same, pipelined",
            ours=in_words(ours),
            against=f"bare loop {median(COUNT / each['seconds'] for each in piped):,.0f}/s",
            ratios=[b["seconds"] / a["seconds"] for a, b in zip(ours, piped, strict=True)],
            details={"limit": piped},
        ),
    ]
