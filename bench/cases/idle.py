"""A process with 1,000,000 jobs of which none is due: its CPU and its memory."""

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import MANY, Kind

SECONDS = 60
#: Shares of a core, bytes.
CPU_LIMIT = 0.01
MEMORY_LIMIT = 150 * 1024 * 1024


def measure(options: Options) -> list[Figure]:
    """Both against fixed limits."""
    return [figure for store in options.stores for figure in _measure(store, options.repeat)]


def _measure(store: Kind, repeat: int) -> list[Figure]:
    used = run_module("bench.ours.rest", store.resting(MANY), SECONDS * repeat)
    share = used["cpu"] / used["seconds"]
    return [
        Figure(
            name=f"idle: CPU with {MANY:,} jobs on {store.name}",
            ours=f"{share:.2%} of a core",
            against=f"{CPU_LIMIT:.0%}",
            ratios=[share / CPU_LIMIT],
            bar=1,
            smaller_is_better=True,
            details=used,
        ),
        Figure(
            name=f"idle: memory with {MANY:,} jobs on {store.name}",
            ours=f"{used['bytes'] / 2**20:.0f} MB",
            against=f"{MEMORY_LIMIT // 2**20} MB",
            ratios=[used["bytes"] / MEMORY_LIMIT],
            bar=1,
            smaller_is_better=True,
        ),
    ]
