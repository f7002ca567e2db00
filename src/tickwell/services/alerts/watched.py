"""Which jobs a person expects to run: neither deleted, nor finished, nor paused on purpose."""

from __future__ import annotations

from tickwell.domain.job import BY_POLICY, Entry, JobState
from tickwell.domain.sender import is_sender

#: Who pauses jobs without being a person.
_APP = "app "


def is_paused_on_purpose(entry: Entry) -> bool:
    """Whether a person paused it, who knows: neither the policy nor an app that lost its job."""
    pause = entry.cursor.pause
    return pause is not None and pause.by != BY_POLICY and not pause.by.startswith(_APP)


def is_watched(entry: Entry | None) -> bool:
    """Whether its alerts are judged. A channel that cannot be reached would report itself."""
    if entry is None or is_sender(entry.job):
        return False
    if entry.cursor.state is JobState.PAUSED:
        return not is_paused_on_purpose(entry)
    return entry.cursor.state is JobState.ACTIVE
