"""A webhook that came, as its headers tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What to know of a webhook before its body is looked at."""

    #: The same for all attempts: what to deduplicate effects by.
    id: str
    #: The second of this attempt.
    timestamp: int
    #: The attempt's number; 0 if the sender does not count.
    attempt: int = 0
    #: The nominal instant that it belongs to.
    fire_time: datetime | None = None
    #: The id of the job.
    job: str | None = None


def read_delivery(headers: Mapping[str, str], id: str, timestamp: int) -> Delivery:
    """With what Tickwell says besides the standard. Neither attempt nor job is signed."""
    attempt = headers.get("tickwell-attempt", "")[:10]
    return Delivery(
        id=id,
        timestamp=timestamp,
        attempt=int(attempt) if attempt.isascii() and attempt.isdigit() else 0,
        fire_time=_moment(headers.get("tickwell-fire-time")),
        job=headers.get("tickwell-job"),
    )


def _moment(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
