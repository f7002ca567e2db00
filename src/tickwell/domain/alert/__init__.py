"""Alerts: rules, what they watch for, and when a person is told. One pure function judges them."""

from tickwell.domain.alert.channel import Channel, ChannelKind
from tickwell.domain.alert.judge import (
    MOST_SUBJECTS,
    Alert,
    AlertState,
    Notice,
    NoticeType,
    Observed,
    Status,
    close,
    delivered,
    judge,
)
from tickwell.domain.alert.rule import BUILT_IN, Condition, Rule

__all__ = [
    "BUILT_IN",
    "MOST_SUBJECTS",
    "Alert",
    "AlertState",
    "Channel",
    "ChannelKind",
    "Condition",
    "Notice",
    "NoticeType",
    "Observed",
    "Rule",
    "Status",
    "close",
    "delivered",
    "judge",
]
