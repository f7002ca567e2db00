"""What a fault run left behind: what should have fired, what the store says, what was called.

The calls were recorded outside the store, by the handlers themselves.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Call:
    """A handler was called. The line was written before the handler did anything else."""

    execution: str
    attempt: int
    #: The host's wall clock, which is SQLite's time.
    at: int
    #: Milliseconds by which the process may have misjudged the store's time.
    slack: int = 0
    process: str = ""


@dataclass(frozen=True)
class Try:
    """An attempt that the store has an outcome for."""

    number: int
    outcome: str
    #: Whether its start is on record.
    started: bool = True


@dataclass(frozen=True)
class Row:
    """An execution as the store holds it at the end."""

    id: str
    job: str
    fire_time: int
    state: str
    attempt: int
    tries: tuple[Try, ...] = ()
    #: A requested run answers no fire time.
    requested: bool = False
    #: Why it was skipped, cancelled or died, and when it ended.
    reason: str | None = None
    ended: int | None = None


@dataclass(frozen=True)
class Range:
    """Fire times that were passed over together."""

    job: str
    first: int
    last: int
    count: int


@dataclass
class History:
    """All of it, when the faults are over and everything had its time to end."""

    #: Nominal fire times by job, from an oracle that shares nothing with the product.
    fires: dict[str, list[int]] = field(default_factory=dict)
    #: Ids of runs whose request was acknowledged.
    requests: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    #: Whether the reasons of skips are judged. Where a process stands still or is cut off while
    #: others go on, a run counts as live until its end is reported, later than it ended.
    by_reason: bool = False
    #: Calls are requests, and some fail before they arrive.
    by_request: bool = False
