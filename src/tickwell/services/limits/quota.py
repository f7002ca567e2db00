"""What a project may have: as the settings say for all, or as a platform admin says for one."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from tickwell.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Limits of one project; 0: none."""

    jobs: int = 0
    #: Fires that all its triggers together can have on their busiest day, and in a minute.
    fires_per_day: int = 0
    fires_per_minute: int = 0
    #: Requests in a minute, by all its keys and users together.
    requests_per_minute: int = 0
    #: Runs that may be requested in a minute.
    runs_per_minute: int = 0
    #: Attempts under way at once, in all workers together; workers read it from the document.
    running: int = 0
    #: Bytes of a payload as JSON.
    payload: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 0 or value > 2**53:
                raise InvalidInput(
                    "a whole number is needed", field=field.name, hint="0 is no limit"
                )


def quota_to_document(quota: Quota) -> dict[str, int]:
    """As it is stored and shown."""
    return asdict(quota)


def quota_from_document(document: dict[str, Any]) -> Quota:
    """The quota in a document; what it does not name is not limited."""
    return Quota(**document)


#: Names of all limits.
LIMITS = tuple(field.name for field in fields(Quota))
