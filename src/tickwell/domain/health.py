"""Health: whether the engine does what it is there for, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A verdict for people and probes."""

    ok: bool
    #: One sentence each; empty when all is well.
    problems: list[str] = field(default_factory=list)
    #: Lanes without a free slot for long, one sentence each: all that is due waits for them.
    full: list[str] = field(default_factory=list)
    #: Why executions are parked, one sentence for each reason, and how many.
    parked: list[str] = field(default_factory=list)
    #: Attempts in the worker's hands.
    in_hand: int = 0
    #: Outcomes that wait to be written.
    backlog: int = 0
