"""Shapes of alerts, their rules and their silences."""

from __future__ import annotations

from typing import Literal

from tickwell.services.operations.schema import Duration, Input, Instant, Json, Output, field


class Alert(Output):
    """Something that is not well: `status` is firing, silenced or pending."""

    rule: str
    condition: str = field(example="missing")
    words: str = field(example="no success for 1d1h")
    severity: Literal["critical", "warning"]
    status: Literal["firing", "silenced", "pending"]
    job_id: str | None
    name: str
    text: str
    since: Instant


class Alerts(Output):
    """What is not well, what fires first."""

    items: list[Alert]


class AlertRule(Output):
    """What to watch for: in one job, or in all of the project."""

    id: str
    condition: str = field(example="missing")
    words: str
    severity: Literal["critical", "warning"]
    built_in: bool
    job_id: str | None
    after: Duration | None
    times: int | None
    by: str | None
    tz: str
    repeat: Duration
    created_at: Instant | None
    created_by: str | None


class AlertRules(Output):
    """The rules of the project."""

    items: list[AlertRule]


class AlertRuleToMake(Input):
    """A rule to be made: `after` or `by`, or `times`, as the condition needs."""

    condition: Literal["missing", "late", "slow", "failing", "skipped"]
    job: str | None = field(None, max_length=255, description="A job's name or id; none: all.")
    after: Duration | None = field(None, example="25h")
    times: int | None = field(None, ge=1, le=100)
    by: str | None = field(None, max_length=5, example="06:00")
    tz: str = field("UTC", max_length=255)
    repeat: Duration | None = field(None, description="Interval between reminders; 4h.")


class Channel(Output):
    """Where alerts are sent, and which: those that fit all of the filters."""

    id: str
    name: str = field(example="on-call")
    kind: Literal["webhook", "slack", "teams", "pagerduty", "email"]
    to: str = field(example="https://hooks.slack.com/services/T0/B0/…")
    severity: Literal["critical", "warning"] | None
    job_id: str | None
    tags: list[str]
    queues: list[str]
    created_at: Instant
    created_by: str


class Channels(Output):
    """The channels of the project, oldest first."""

    items: list[Channel]


class NewChannel(Channel):
    """A channel with the key that webhooks are signed with, which is shown this once."""

    signing_key: str | None = field(example="whsec_…")


class ChannelToMake(Input):
    """A channel to be made: with a `key` for PagerDuty, `to` for e-mail, `url` for all others."""

    name: str = field(min_length=1, max_length=255, example="on-call")
    kind: Literal["webhook", "slack", "teams", "pagerduty", "email"]
    url: str | None = field(None, max_length=2048, example="https://example.com/alerts")
    key: str | None = field(None, max_length=255, description="PagerDuty's integration key.")
    to: list[str] = field([], max_length=20, description="E-mail addresses.")
    severity: Literal["critical", "warning"] | None = None
    job: str | None = field(None, max_length=255, description="A job's name or id; none: all.")
    tags: list[str] = field([], max_length=50, description="One of these tags; none: all.")
    queues: list[str] = field([], max_length=50, description="One of these queues; none: all.")


class ChannelPreview(Output):
    """What a channel is sent when an example job is missing."""

    kind: Literal["webhook", "slack", "teams", "pagerduty", "email"]
    to: str
    message: Json


class AlertNoticeSubject(Output):
    """What a notice was about."""

    job_id: str | None
    name: str
    text: str
    since: Instant


class AlertNotice(Output):
    """What was reported: `more` alerts are not named."""

    rule: str
    words: str
    type: Literal["firing", "silenced", "resolved"]
    at: Instant
    repeated: bool
    alerts: list[AlertNoticeSubject]
    more: int


class AlertNotices(Output):
    """What was reported, newest first."""

    items: list[AlertNotice]


class Silence(Output):
    """What is not reported, until when, and why."""

    id: str
    rule: str | None
    job_id: str | None
    until: Instant
    why: str
    by: str


class Silences(Output):
    """The silences that have not ended, the next to end first."""

    items: list[Silence]


class SilenceToMake(Input):
    """A silence to be made: of a rule, of a job, or of all alerts."""

    until: Instant
    why: str = field(min_length=1, max_length=500, example="moving the database")
    rule: str | None = field(None, max_length=255, description="A rule's id; none: all.")
    job: str | None = field(None, max_length=255, description="A job's name or id; none: all.")


class AlertsTested(Output):
    """The executions that send the test messages; empty: there is no channel."""

    executions: list[str]


class NoticeQuery(Input):
    """How many notices."""

    limit: int = field(100, ge=1, le=1000)
