"""Dead tuples and size of the tables on PostgreSQL, minutes under a steady load with retention."""

from typing import Any

from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import POSTGRES, address

#: By how much the largest size of the second half may exceed that of the first.
BAR = 1.5


def measure(options: Options) -> list[Figure]:
    """What grows for ever is larger in the second half than in the first."""
    with POSTGRES.empty() as where:
        answer = run_module("bench.ours.steady", *address(where), options.minutes)
    samples = answer["samples"]
    middle = len(samples) // 2
    first, second = samples[:middle], samples[middle:]
    return [
        Figure(
            name=f"bloat: {answer['handled']:,} executions in {options.minutes:g} minutes",
            ours=_in_words(second),
            against=f"the first half {_in_words(first)}",
            ratios=[_most(second, "bytes") / _most(first, "bytes")],
            bar=BAR,
            smaller_is_better=True,
            details=answer,
        )
    ]


def _most(samples: list[dict[str, Any]], key: str) -> int:
    return max((sample[key] for sample in samples), default=1)


def _in_words(samples: list[dict[str, Any]]) -> str:
    return f"{_most(samples, 'bytes') / 2**20:.1f} MB, {_most(samples, 'dead'):,} dead at most"
