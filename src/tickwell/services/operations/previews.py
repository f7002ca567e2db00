"""What a trigger would do, before a job has it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from tickwell.clock import NEVER
from tickwell.domain.trigger import Trigger
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.cooperative import cooperatively
from tickwell.services.operations.context import OperationContext


@dataclass(slots=True, kw_only=True)
class Preview:
    """A trigger in words, its next fire times, and what may surprise."""

    words: str
    fires: Sequence[int]
    warnings: Sequence[str]


class PreviewOperations:
    """Explains triggers."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.READ)
    async def trigger(self, actor: Actor, trigger: Trigger, count: int = 10) -> Preview:
        """What it would do from now on; `H` fields as a nameless job would have them."""
        await asyncio.sleep(0)  # noqa: TID251 - no time passes: to read it took its own
        bound = trigger.bound(f"{actor.project}/")
        now = self.context.clock.now()
        fires = [] if bound.follows_finish else bound.between(now, NEVER)
        wanted = count if bound.max_runs is None else min(count, bound.max_runs)
        return Preview(
            words=trigger.explain(),
            fires=[fire async for fire in cooperatively(islice(fires, wanted))],
            warnings=await warnings(trigger, now),
        )


async def warnings(trigger: Trigger, since: int) -> list[str]:
    """What may surprise: the clocks of a zone take a millisecond, and a union may have many."""
    each = (member.warnings(since) for member in trigger.single())
    return [warning async for some in cooperatively(each) for warning in some]
