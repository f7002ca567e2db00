"""One entry of a beat schedule, wherever it was read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatEntry:
    """What beat sends, and when. Nothing in it is checked yet: `job_of` does that."""

    name: str
    task: Any
    #: A schedule of Celery, a number of seconds, a timedelta; a datetime for a clocked entry.
    schedule: Any
    #: The zone in which Celery reads crontabs.
    tz: str = "UTC"
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    #: What beat passes to `apply_async`.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Round an interval to its unit, as `schedule(…, relative=True)` does.
    relative: bool = False
    enabled: bool = True
    #: Whether beat disables the entry after its first run.
    one_off: bool = False
    start: datetime | None = None
    until: datetime | None = None
    #: When beat last sent it, where that is known.
    last_run: datetime | None = None
    description: str = ""
