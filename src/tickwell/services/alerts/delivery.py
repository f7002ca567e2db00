"""Delivers notices: to the history of the project, and to its channels.

Everything written here has a key that is made of the rule and the number of the notice. A process
that repeats what another one began writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tickwell.domain.alert import Alert, Channel, Notice, NoticeType, Rule
from tickwell.domain.alert.formats import body
from tickwell.domain.alert.message import Line, Message, MessageType
from tickwell.log import events as lines
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.alerts.book import (
    HISTORY,
    HISTORY_KEPT,
    StoredState,
    notice_key,
    read_channels,
)
from tickwell.services.executions.executions import Executions
from tickwell.services.senders.sending import send

#: Alerts that a message names; it says how many more there are.
MOST_NAMED = 50
#: Alerts that a line of the log names.
_MOST_LOGGED = 10
#: Later than any notice: keys count down to it, so that the newest come first in lists.
_NEVER = 10**15


class Delivery:
    """Sends what is owed, as executions."""

    def __init__(self, store: RecordStore, executions: Executions, public_url: str) -> None:
        self._store = store
        self._executions = executions
        self._public_url = public_url

    async def deliver(self, project: str, stored: StoredState, now: int) -> None:
        """Each notice that is owed to the history, and to every channel that wants it."""
        rule, state = stored.rule, stored.state
        channels = await read_channels(self._store, project, now)
        for notice in state.owed:
            await self._record(project, rule, notice, now)
            for channel in channels:
                alerts = _wanted(channel, rule, notice.alerts)
                if not alerts or (
                    notice.type is NoticeType.SILENCED and not channel.hears_silences
                ):
                    continue
                known = _wanted(channel, rule, state.alerts).values()
                told = [each.is_acknowledged for each in known if each.is_told]
                content = message(
                    project, rule, notice, alerts, active=told, public_url=self._public_url
                )
                key = notice_key(rule.id, notice.number)
                await send_to(self._executions, project, channel, content, key)

    async def _record(self, project: str, rule: Rule, notice: Notice, now: int) -> None:
        record = Record(
            kind=HISTORY,
            project=project,
            key=f"{_NEVER - notice.at:015d}/{rule.id}/{notice.number}",
            document={
                "rule": rule.id,
                "words": rule.words,
                "type": notice.type.value,
                "at": notice.at,
                "is_repeated": notice.is_repeated,
                "alerts": [_told(subject, each) for subject, each in _first(notice.alerts)],
                "more": max(len(notice.alerts) - MOST_NAMED, 0),
            },
            expires_at=notice.at + HISTORY_KEPT,
        )
        if await self._store.put_record(record, now, 0):  # else a dead process has logged it
            _log(project, rule, notice)


def _log(project: str, rule: Rule, notice: Notice) -> None:
    """A line for those who read logs only; a silence is in the audit log."""
    names = ", ".join(each.name for _, each in _first(notice.alerts)[:_MOST_LOGGED])
    fields = {
        "project": project,
        "rule": rule.id,
        "words": rule.words,
        "count": len(notice.alerts),
        "names": names,
    }
    if notice.type is NoticeType.FIRING:
        lines.ALERT_FIRING.log(**fields, repeated=notice.is_repeated)
    elif notice.type is NoticeType.RESOLVED:
        lines.ALERT_RESOLVED.log(**fields)


async def send_to(
    executions: Executions, project: str, channel: Channel, content: Message, key: str
) -> str | None:
    """The id of the execution that sends it; None: the channel is deleted."""
    sent = body(channel, content)
    return await send(executions, project, channel.id, sent, key, overlap=channel.overlap)


def message(
    project: str,
    rule: Rule,
    notice: Notice,
    alerts: Mapping[str, Alert],
    *,
    active: Sequence[bool],
    public_url: str,
) -> Message:
    """What a channel is sent of a notice: these alerts.

    `active` has each alert that it was sent and that is not over, by whether it is silenced.
    """
    return Message(
        type=MessageType(notice.type),
        at=notice.at,
        project=project,
        rule=rule.id,
        condition=rule.condition.value,
        words=rule.words,
        severity=rule.severity,
        number=notice.number,
        is_repeated=notice.is_repeated,
        lines=[
            Line(
                job=subject or None,
                name=each.name,
                text=each.text,
                since=each.since,
                url=_link(public_url, f"jobs/{subject}" if subject else "alerts"),
            )
            for subject, each in _first(alerts)
        ],
        count=len(alerts),
        firing=active.count(False),
        silenced=active.count(True),
        url=_link(public_url, "alerts"),
    )


def trial(project: str, now: int, public_url: str) -> Message:
    """A message that only shows that messages arrive."""
    return Message(
        type=MessageType.TEST,
        at=now,
        project=project,
        rule="test",
        condition="test",
        words="a test",
        severity="info",
        number=0,
        url=_link(public_url, "alerts"),
    )


def _link(public_url: str, path: str) -> str | None:
    return f"{public_url.rstrip('/')}/{path}" if public_url else None


def _wanted(channel: Channel, rule: Rule, alerts: Mapping[str, Alert]) -> dict[str, Alert]:
    return {
        subject: each
        for subject, each in alerts.items()
        if channel.wants(rule.severity, subject, each)
    }


def _first(alerts: Mapping[str, Alert]) -> list[tuple[str, Alert]]:
    """The first to be named, by name."""
    return sorted(alerts.items(), key=lambda each: (each[1].name, each[0]))[:MOST_NAMED]


def _told(subject: str, alert: Alert) -> dict[str, Any]:
    return {
        "job_id": subject or None,
        "name": alert.name,
        "text": alert.text,
        "since": alert.since,
    }
