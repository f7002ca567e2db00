"""What a store on a server consists of."""

from __future__ import annotations

#: Without the schema or the prefix that makes their names ours.
TABLES = (
    "attempt",
    "cursor",
    "execution",
    "gate",
    "job",
    "meta",
    "queue",
    "record",
    "running",
    "skip",
    "tally",
    "worker",
)
