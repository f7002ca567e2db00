"""What is on record about the alerts of a project: rules, silences, states, history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.domain.alert import (
    BUILT_IN,
    Alert,
    AlertState,
    Channel,
    Condition,
    Observed,
    Rule,
)
from tickwell.domain.maintenance import MaintenanceWindow
from tickwell.domain.policy import DAY
from tickwell.engine.planning.maintenance import windows_of
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.projects.platform import PLATFORM

RULE, SILENCE, STATE, HISTORY = "alert_rule", "alert_silence", "alert_state", "alert_notice"
CHANNEL = "alert_channel"
#: That a project has alerts: a record of the platform. Only of these projects anything is read.
PROJECT = "alert_project"
#: Rules, channels and silences of a project at once.
MOST_RULES, MOST_CHANNELS, MOST_SILENCES = 100, 20, 100
#: Milliseconds that notices stay on record.
HISTORY_KEPT = 30 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Until when a rule, or a job, is not reported, and why."""

    id: str
    #: None: every rule.
    rule: str | None
    #: The id of a job; None: every subject.
    job: str | None
    until: int
    why: str
    by: str

    def covers(self, rule: str, subject: str) -> bool:
        """Whether it is about this."""
        return self.rule in {None, rule} and self.job in {None, subject}

    def to_document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "rule": self.rule,
            "job": self.job,
            "until": self.until,
            "why": self.why,
            "by": self.by,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """How a rule stands, as it was read."""

    #: As it was when the state was written: it may have been deleted since.
    rule: Rule
    state: AlertState
    #: What a write must expect.
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All of it, read at one instant."""

    rules: Sequence[Rule]
    silences: Sequence[Silence]
    #: By the id of the rule; those of deleted rules included.
    states: Mapping[str, StoredState]
    #: Maintenance windows that may cover jobs of the project, those that are over included.
    windows: Sequence[MaintenanceWindow]
    #: Those that are on.
    windows_on: Sequence[MaintenanceWindow]

    def is_silenced(self, rule: str, subject: str, about: Alert | Observed | None) -> bool:
        """Whether a person does not want to be told: of this, or of jobs in maintenance."""
        return any(each.covers(rule, subject) for each in self.silences) or (
            subject != ""
            and about is not None
            and any(each.selects(about.queue, about.tags) for each in self.windows_on)
        )


async def read_book(store: RecordStore, project: str, now: int) -> Book:
    """Read it: four lists, however many jobs there are."""
    rules = await store.list_records(RULE, project, "", now, MOST_RULES)
    silences = await store.list_records(SILENCE, project, "", now, MOST_SILENCES)
    states = await store.list_records(STATE, project, "", now)
    windows = await windows_of(store, project, now)
    return Book(
        rules=[
            *BUILT_IN,
            *(Rule.from_document(each.key, each.document) for each in rules if _is_known(each)),
        ],
        silences=[Silence(**each.document | {"id": each.key}) for each in silences],
        states={
            each.key: _stored(each) for each in states if _is_known(each, each.document["rule"])
        },
        windows=windows,
        windows_on=[each for each in windows if each.is_on(now)],
    )


_CONDITIONS = frozenset(each.value for each in Condition)


def _is_known(record: Record, rule: dict[str, Any] | None = None) -> bool:
    """Whether this version evaluates such a rule; a newer one, during an upgrade, has others."""
    return (record.document if rule is None else rule)["condition"] in _CONDITIONS


def state_record(project: str, stored: StoredState) -> Record:
    """The record of a state."""
    document = {"rule": stored.rule.to_document(), "state": stored.state.to_document()}
    return Record(kind=STATE, project=project, key=stored.rule.id, document=document)


def _stored(record: Record) -> StoredState:
    return StoredState(
        rule=Rule.from_document(record.key, record.document["rule"]),
        state=AlertState.from_document(record.document["state"]),
        version=record.version,
    )


def notice_key(rule: str, number: int | str = "") -> str:
    """The key of the executions that send a notice of a rule; without a number, how all begin."""
    return f"alert:{rule}:{number}"


async def read_channels(store: RecordStore, project: str, now: int) -> list[Channel]:
    """The channels of a project, oldest first."""
    found = await store.list_records(CHANNEL, project, "", now, MOST_CHANNELS)
    return [Channel.from_document(each.key, each.document) for each in found]


async def forget(store: RecordStore, project: str, now: int) -> None:
    """Evaluate a project no more, and keep no address that its alerts were sent to."""
    await store.delete_record(PROJECT, PLATFORM, project)
    for kind in (RULE, SILENCE, CHANNEL, STATE):
        for record in await store.list_records(kind, project, "", now):
            await store.delete_record(kind, project, record.key)


async def begin(store: RecordStore, project: str, now: int) -> None:
    """Evaluate a project from now on: it has a rule or a channel."""
    await store.put_record(Record(kind=PROJECT, project=PLATFORM, key=project, document={}), now)
