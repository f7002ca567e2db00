"""The judge: from what was observed to the state of a rule, and what people are told. Pure.

A state names only the subjects that are not well. What people are to be told is part of the state
until it has been delivered: a crash in between neither loses a notice nor makes another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tickwell.domain.alert.rule import Rule

#: Subjects that one rule reports at once; those beyond follow when others are well again.
MOST_SUBJECTS = 200


class Status(StrEnum):
    """How a rule stands with one subject. A subject that is well has no status."""

    #: The condition is met, but not yet for long enough.
    PENDING = "pending"
    #: The condition is met, and people are told.
    FIRING = "firing"
    #: Firing, and a person does not want to be told for a while.
    SILENCED = "silenced"


class NoticeType(StrEnum):
    """What a notice says."""

    #: An alert fires, or still does.
    FIRING = "firing"
    #: An alert that was reported is silenced: a person knows of it.
    SILENCED = "silenced"
    #: An alert that was reported is over.
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class Observed:
    """A condition that is met."""

    #: What people call the subject.
    name: str
    #: What is wrong, in a sentence.
    text: str
    #: Of a job: for channels that are sent only some.
    queue: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A subject that is not well."""

    name: str
    text: str
    #: As they were when it began: who was notified of the start is notified of the end.
    queue: str | None = None
    tags: tuple[str, ...] = ()
    #: Since when the condition has been met.
    since: int
    is_firing: bool = False
    #: Whether people were told.
    is_told: bool = False
    #: Whether it is silenced, and people were told before.
    is_acknowledged: bool = False
    #: Since when the condition is over, while that may be a moment only.
    clear_since: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What people are told at once about one rule."""

    #: Counts the notices of a rule: its name towards receivers.
    number: int
    type: NoticeType
    at: int
    #: By subject: the id of a job, or empty.
    alerts: Mapping[str, Alert]
    #: Said before, and still so.
    is_repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """How a rule stands."""

    #: What is not well, by subject.
    alerts: Mapping[str, Alert] = field(default_factory=dict)
    #: Notices so far.
    notices: int = 0
    #: When it was last said that something fires.
    told_at: int = 0
    #: Notices that are not delivered yet.
    owed: Sequence[Notice] = ()

    def to_document(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "alerts": _alerts_document(self.alerts),
            "notices": self.notices,
            "told_at": self.told_at,
            "owed": [
                {
                    "number": each.number,
                    "type": each.type.value,
                    "at": each.at,
                    "alerts": _alerts_document(each.alerts),
                    "is_repeated": each.is_repeated,
                }
                for each in self.owed
            ],
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> AlertState:
        """The state in a stored document."""
        owed = tuple(
            Notice(
                **each | {"type": NoticeType(each["type"]), "alerts": _alerts_from(each["alerts"])}
            )
            for each in document["owed"]
        )
        return cls(**document | {"alerts": _alerts_from(document["alerts"]), "owed": owed})


def judge(
    rule: Rule,
    state: AlertState,
    observed: Mapping[str, Observed | None],
    now: int,
    is_silenced: Callable[[str], bool] = lambda _subject: False,
) -> AlertState:
    """The state after a look at these subjects; None: well. Subjects not looked at stay."""
    alerts = dict(state.alerts)
    over = dict[str, Alert]()
    for subject, seen in observed.items():
        known = alerts.get(subject)
        if seen is not None:
            if known is not None or len(alerts) < MOST_SUBJECTS:
                alerts[subject] = _met(rule, known, seen, now)
        elif known is not None:
            cleared = _not_met(rule, known, now)
            if cleared is not None:
                alerts[subject] = cleared
            else:
                over[subject] = alerts.pop(subject)
    return _tell(rule, replace(state, alerts=alerts), over, now, is_silenced)


def close(state: AlertState, now: int) -> AlertState:
    """Of a rule that was deleted: what was reported is over."""
    return _resolve(replace(state, alerts={}), state.alerts, now)


def delivered(state: AlertState) -> AlertState:
    """Nothing is owed any more."""
    return replace(state, owed=())


def _met(rule: Rule, known: Alert | None, seen: Observed, now: int) -> Alert:
    since = now if known is None else min(known.since, now)  # a clock may be set back
    return Alert(
        name=seen.name,
        text=seen.text,
        queue=seen.queue if known is None else known.queue,
        tags=seen.tags if known is None else known.tags,
        since=since,
        is_firing=(known is not None and known.is_firing) or now - since >= rule.waits,
        is_told=known is not None and known.is_told,
        is_acknowledged=known is not None and known.is_acknowledged,
    )


def _not_met(rule: Rule, known: Alert, now: int) -> Alert | None:
    """None: it is over. A pending one has never been more than a suspicion."""
    since = now if known.clear_since is None else min(known.clear_since, now)
    if not known.is_firing or now - since >= rule.clears:
        return None
    return replace(known, clear_since=since)


def _tell(
    rule: Rule,
    state: AlertState,
    over: Mapping[str, Alert],
    now: int,
    is_silenced: Callable[[str], bool],
) -> AlertState:
    state = replace(state, told_at=min(state.told_at, now))
    # A receiver that was notified of the start is notified of the end, silenced or not.
    state = _acknowledge(_resolve(state, over, now), now, is_silenced)
    audible = {
        subject: alert
        for subject, alert in state.alerts.items()
        if alert.is_firing and alert.clear_since is None and not is_silenced(subject)
    }
    fresh = {subject: alert for subject, alert in audible.items() if not alert.is_told}
    if fresh:
        told = {subject: replace(alert, is_told=True) for subject, alert in fresh.items()}
        state = replace(state, alerts={**state.alerts, **told}, told_at=now)
        return _owing(state, NoticeType.FIRING, fresh, now)
    if audible and now - state.told_at >= rule.repeat:
        state = replace(state, told_at=now)
        return _owing(state, NoticeType.FIRING, audible, now, is_repeated=True)
    return state


def _acknowledge(state: AlertState, now: int, is_silenced: Callable[[str], bool]) -> AlertState:
    """Note which reported alerts a person silenced since, and whose silence is over."""
    changed = {
        subject: replace(alert, is_acknowledged=not alert.is_acknowledged)
        for subject, alert in state.alerts.items()
        if alert.is_told and alert.is_acknowledged != is_silenced(subject)
    }
    if not changed:
        return state
    state = replace(state, alerts={**state.alerts, **changed})
    hushed = {subject: alert for subject, alert in changed.items() if alert.is_acknowledged}
    return _owing(state, NoticeType.SILENCED, hushed, now) if hushed else state


def _resolve(state: AlertState, over: Mapping[str, Alert], now: int) -> AlertState:
    told = {subject: alert for subject, alert in over.items() if alert.is_told}
    return _owing(state, NoticeType.RESOLVED, told, now) if told else state


def _owing(
    state: AlertState,
    type: NoticeType,
    alerts: Mapping[str, Alert],
    now: int,
    *,
    is_repeated: bool = False,
) -> AlertState:
    number = state.notices + 1
    notice = Notice(number=number, type=type, at=now, alerts=alerts, is_repeated=is_repeated)
    return replace(state, notices=number, owed=(*state.owed, notice))


def _alerts_document(alerts: Mapping[str, Alert]) -> dict[str, Any]:
    return {
        subject: {
            "name": each.name,
            "text": each.text,
            "queue": each.queue,
            "tags": [*each.tags],
            "since": each.since,
            "is_firing": each.is_firing,
            "is_told": each.is_told,
            "is_acknowledged": each.is_acknowledged,
            "clear_since": each.clear_since,
        }
        for subject, each in alerts.items()
    }


def _alerts_from(document: dict[str, Any]) -> dict[str, Alert]:
    return {
        subject: Alert(**each | {"tags": tuple(each["tags"])}) for subject, each in document.items()
    }
