"""Alerts that are lost, or told twice."""

from dataclasses import replace
from itertools import count

from tickwell.services.alerts import delivery
from tickwell.services.alerts.evaluator import Evaluator
from tickwell.services.senders.sending import send


def forgotten_before_delivery(patches):
    """The state is written as if everything had been delivered, and then it is delivered."""
    sound = Evaluator._write

    async def write(self, project, stored, now):
        owed, settled = stored.state.owed, replace(stored.state, owed=())
        written = await sound(self, project, replace(stored, state=settled), now)
        if written is None:
            return None
        return replace(written, state=replace(written.state, owed=owed))

    patches.setattr(Evaluator, "_write", write)


def delivered_without_a_key(patches):
    """Each delivery is a run of its own, whatever was delivered before."""
    keys = count()

    async def unkeyed(executions, project, channel, message, key, **options):
        return await send(executions, project, channel, message, f"{key}:{next(keys)}", **options)

    patches.setattr(delivery, "send", unkeyed)
