"""Delivers notices: to the history of the project, and to callbacks that are told of alerts.

Everything written here has a key that is made of the rule and the number of the notice. A process
that repeats what another one began writes nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.alert import Alert, Notice, Rule
from tickwell.domain.trigger.moment import to_text
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.alerts.book import HISTORY, HISTORY_KEPT
from tickwell.services.callbacks.callback import KIND, Callback, Told, from_document
from tickwell.services.callbacks.sending import send
from tickwell.services.executions.executions import Executions

#: Alerts that a message names; it says how many more there are.
MOST_NAMED = 50
#: Later than any notice: keys count down to it, so that the newest come first in lists.
_NEVER = 10**15


class Delivery:
    """Sends what is owed, as executions."""

    def __init__(self, store: RecordStore, executions: Executions, public_url: str) -> None:
        self._store = store
        self._executions = executions
        self._link = f"{public_url.rstrip('/')}/alerts" if public_url else None

    async def deliver(self, project: str, rule: Rule, notices: Sequence[Notice], now: int) -> None:
        """Each notice to the history and to every callback that is told of it."""
        callbacks = await alert_callbacks(self._store, project, now) if notices else ()
        for notice in notices:
            await self._record(project, rule, notice, now)
            for callback in callbacks:
                alerts = _for(callback, notice.alerts)
                if not alerts:
                    continue
                key = f"alert:{rule.id}:{notice.number}"
                said = message(project, rule, notice, alerts, self._link)
                await send(self._executions, project, callback, said, key)

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
        await self._store.put_record(record, now, 0)


async def alert_callbacks(store: RecordStore, project: str, now: int) -> list[Callback]:
    """Those that are told of alerts."""
    records = await store.list_records(KIND, project, "", now)
    found = (from_document(record.key, record.document) for record in records)
    return [each for each in found if Told.ALERT in each.events]


def message(
    project: str, rule: Rule, notice: Notice, alerts: Mapping[str, Alert], link: str | None
) -> dict[str, Any]:
    """The payload, in the form of Standard Webhooks."""
    return {
        "type": f"alert.{notice.type.value}",
        "timestamp": to_text(to_datetime(notice.at)),
        "data": {
            "project": project,
            "rule": rule.id,
            "condition": rule.condition.value,
            "words": rule.words,
            "severity": rule.severity,
            "number": notice.number,
            "repeated": notice.is_repeated,
            "alerts": [
                told | {"since": to_text(to_datetime(told["since"]))}
                for subject, each in _first(alerts)
                for told in [_told(subject, each)]
            ],
            "more": max(len(alerts) - MOST_NAMED, 0),
            "url": link,
        },
    }


def trial(project: str, now: int, by: str) -> dict[str, Any]:
    """The payload of a message that only shows that messages arrive."""
    return {
        "type": "alert.test",
        "timestamp": to_text(to_datetime(now)),
        "data": {"project": project, "requested_by": by},
    }


def _for(callback: Callback, alerts: Mapping[str, Alert]) -> Mapping[str, Alert]:
    if callback.job is None:
        return alerts
    return {subject: each for subject, each in alerts.items() if subject == callback.job}


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
