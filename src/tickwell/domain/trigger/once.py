"""Fires a single time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from tickwell.clock import to_millis
from tickwell.domain.trigger.moment import exact, say
from tickwell.domain.trigger.trigger import Trigger


@dataclass(frozen=True, slots=True)
class Once(Trigger):
    """At one moment, and never again."""

    at: datetime
    _instant: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", exact(self.at, "once"))
        object.__setattr__(self, "_instant", to_millis(self.at))
        Trigger.__post_init__(self)

    def _nominal(self, instant: int) -> int | None:
        return self._instant if instant < self._instant else None

    def _rule_in_words(self) -> str:
        return f"once, at {say(self.at)}"
