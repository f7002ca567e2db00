"""Channels: where alerts are sent, in which format, and which of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from tickwell.domain.alert.judge import Alert
from tickwell.domain.gate import Overlap

Severity = Literal["critical", "warning"]


class ChannelKind(StrEnum):
    """The format of a channel's messages."""

    #: JSON, signed as Standard Webhooks.
    WEBHOOK = "webhook"
    #: An incoming webhook of Slack, or of a chat that accepts the same JSON.
    SLACK = "slack"
    #: A workflow of Microsoft Teams, as an Adaptive Card.
    TEAMS = "teams"
    #: Events API v2 of PagerDuty.
    PAGERDUTY = "pagerduty"
    #: Mail by the SMTP server of the settings.
    EMAIL = "email"


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """Where alerts are sent, and which of them."""

    #: Also the id of the job that sends them.
    id: str
    name: str
    kind: ChannelKind
    #: Where to, as people may see it: without its secret.
    to: str
    #: Only alerts of this severity; None: all.
    severity: Severity | None = None
    #: The id of the only job; None: all.
    job: str | None = None
    #: Only jobs with one of these tags, and in one of these queues; empty: all.
    tags: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    created_at: int = 0
    created_by: str = ""

    @property
    def overlap(self) -> Overlap:
        """Whether messages wait for those before: one that comes late must not open an incident."""
        return Overlap.QUEUE_ALL if self.kind is ChannelKind.PAGERDUTY else Overlap.ALLOW

    @property
    def hears_silences(self) -> bool:
        """Whether it is told that a person silenced an alert: programs are, chats are not."""
        return self.kind in {ChannelKind.WEBHOOK, ChannelKind.PAGERDUTY}

    def wants(self, severity: str, subject: str, alert: Alert) -> bool:
        """Whether it is sent this alert. One of the project is of no job, and has no tag."""
        return (
            self.severity in {None, severity}
            and self.job in {None, subject}
            and (not self.tags or not set(self.tags).isdisjoint(alert.tags))
            and (not self.queues or alert.queue in self.queues)
        )

    def to_document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "to": self.to,
            "severity": self.severity,
            "job": self.job,
            "tags": [*self.tags],
            "queues": [*self.queues],
            "created_at": self.created_at,
            "created_by": self.created_by,
        }

    @classmethod
    def from_document(cls, id: str, document: dict[str, Any]) -> Channel:
        """The channel in a stored document."""
        lists = {name: tuple(document[name]) for name in ("tags", "queues")}
        return cls(**document | lists | {"id": id, "kind": ChannelKind(document["kind"])})
