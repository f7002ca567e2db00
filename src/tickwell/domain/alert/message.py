"""Messages: what a channel is sent at once about one rule, before it has a format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tickwell.clock import to_datetime


class MessageType(StrEnum):
    """What a message says."""

    FIRING = "firing"
    SILENCED = "silenced"
    RESOLVED = "resolved"
    #: Somebody tries the channel.
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One alert of a message."""

    #: The id of the job; None: the project's.
    job: str | None
    name: str
    text: str
    since: int
    #: The page of the job, or of the alerts; None: the address of the dashboard is not known.
    url: str | None

    @property
    def words(self) -> str:
        """What is wrong and since when, in one sentence."""
        return f"{self.text} (since {in_utc(self.since)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a channel is sent. Each format is a function of it."""

    type: MessageType
    at: int
    project: str
    #: The rule: its id, what it watches for, and that in words.
    rule: str
    condition: str
    words: str
    severity: str
    #: Counts the notices of the rule.
    number: int
    is_repeated: bool = False
    #: The first alerts by name, and how many there are in all.
    lines: Sequence[Line] = ()
    count: int = 0
    #: Alerts of the rule that this channel was sent and that are neither over nor silenced.
    firing: int = 0
    #: Those that are silenced.
    silenced: int = 0
    #: The page of the alerts.
    url: str | None = None

    @property
    def title(self) -> str:
        """What happened, in one line."""
        if self.type is MessageType.TEST:
            return f"Test: alerts of the project {self.project} arrive here"
        who = self.lines[0].name if self.count == 1 else f"{self.count:,} jobs"
        return f"{self._status}: {who}: {self.words}"

    @property
    def _status(self) -> str:
        if self.type is not MessageType.FIRING:
            return self.type.capitalize()
        return "Still firing" if self.is_repeated else "Firing"

    @property
    def is_over(self) -> bool:
        """Whether nothing of the rule fires any more, as far as this channel was sent it."""
        return self.type is MessageType.RESOLVED and not self.firing + self.silenced

    @property
    def is_acknowledged(self) -> bool:
        """Whether all of the rule that fires is silenced, as far as this channel was sent it."""
        return self.type is MessageType.SILENCED and not self.firing

    def first(self, most: int) -> tuple[Sequence[Line], str]:
        """So many lines, and a sentence about the rest; empty: there is none."""
        rest = self.count - min(most, len(self.lines))
        words = [f"and {rest:,} more"] if rest else []
        if self.type in {MessageType.RESOLVED, MessageType.SILENCED} and self.firing:
            words.append(f"{self.firing:,} still firing")
        return self.lines[:most], "; ".join(words)


def in_utc(instant: int) -> str:
    """An instant as people read it."""
    return f"{to_datetime(instant):%Y-%m-%d %H:%M:%S} UTC"
