"""Jobs that others run: at each fire time Tickwell waits for a check-in, and runs nothing.

Their executions are claimed and finished like all others, so no store knows of them. The owner is
not a process: it is one row among the workers, which stands for everything outside. The reapers
write its heartbeat.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tickwell.domain.ability import EXTERNAL
from tickwell.domain.worker import Liveness, Worker

#: The queue of all such jobs, which no worker serves.
CHECK_INS = "check-ins"
#: What the id of the row begins with. A number follows: a row that was declared lost, by a version
#: that did not know it, stays lost.
_OUTSIDE = "outside-"


@dataclass(frozen=True, slots=True)
class External:
    """Something outside that reports its start and its end: cron, a CI pipeline, a person."""

    def ability_in(self, _project: str) -> str:
        """What no worker announces."""
        return EXTERNAL


def outside(number: int, now: int) -> Worker:
    """The owner of the runs that outside jobs reported."""
    return Worker(
        id=f"{_OUTSIDE}{number}",
        host="",
        pid=0,
        queues=(CHECK_INS,),
        abilities=(EXTERNAL,),
        capacity=0,
        started_at=now,
        roles=(),
    )


def processes(found: Iterable[Liveness]) -> list[Liveness]:
    """The rows of workers that are processes."""
    return [each for each in found if not is_outside(each.worker)]


def is_outside(worker: Worker) -> bool:
    """Whether it stands for outside jobs, and is no process."""
    return worker.id.startswith(_OUTSIDE) and not worker.roles
