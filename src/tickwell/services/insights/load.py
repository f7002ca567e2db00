"""Load: how much starts in each part of an axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tickwell.domain.execution import Execution
from tickwell.domain.policy import HOUR
from tickwell.domain.tally import Tally

#: Parts of an axis in which starts are counted one by one.
PARTS = 120


def counted(ran: Sequence[Execution], fires: Sequence[int], since: int, until: int) -> list[int]:
    """What is known one by one."""
    step = max((until - since) // PARTS, 1)
    starts: Counter[int] = Counter([(fire - since) // step for fire in fires])
    starts.update((each.run_at - since) // step for each in ran)
    return [starts[part] for part in range(PARTS)]


def hourly_load(
    ended: dict[int, Tally],
    fires: Sequence[int],
    always: float,
    *,
    since: int,
    until: int,
    now: int,
) -> list[int]:
    """By the hour: what ended in those past; what will fire, some of it all the time, in others."""
    starts: Counter[int] = Counter([(fire - since) // HOUR for fire in fires])
    for hour, tally in ended.items():
        starts[max(hour - since, 0) // HOUR] += tally.executions
    for part in range(max(now - since, 0) // HOUR + 1, (until - since) // HOUR):
        starts[part] += round(always)
    return [starts[part] for part in range((until - since) // HOUR)]
