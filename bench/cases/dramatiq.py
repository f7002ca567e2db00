"""The drain on Redis against dramatiq."""

from pathlib import Path

from bench.cases.drain import COUNT, drained, faults, in_words
from bench.child import run_script
from bench.figure import Figure
from bench.options import Options
from bench.peers.environment import peer_python
from bench.stores import REDIS

PEER = Path(__file__).parent.parent / "peers" / "dramatiq_drain.py"
ROUNDS = 3


def measure(options: Options) -> list[Figure]:
    """One process of each, in turn."""
    if REDIS not in options.stores:
        return []
    ours, peers = [], []
    for _ in range(ROUNDS * options.repeat):
        peers.append(run_script(peer_python(), PEER, REDIS.server.url, COUNT))
        ours.append(drained(REDIS))
    wrong = [f"dramatiq handled {each['handled']}" for each in peers if each["handled"] != COUNT]
    return [
        Figure(
            name=f"dramatiq: {COUNT:,} no-ops on Redis",
            ours=in_words(ours),
            against=f"dramatiq {in_words(peers)}",
            ratios=[b["seconds"] / a["seconds"] for a, b in zip(ours, peers, strict=True)],
            bar=REDIS.bars["dramatiq"],
            faults=faults(ours) + wrong,
            details={"ours": ours, "peer": peers},
        )
    ]
