"""Alerts that are lost, or told twice."""

from dataclasses import replace
from itertools import count

from tickwell.services.alerts import delivery
from tickwell.services.alerts.evaluator import Evaluator
from tickwell.services.alerts.observing import Observer
from tickwell.services.monitors.state import Monitor, MonitorState
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


def resolved_by_a_start(patches):
    """A monitor that is down counts as well once a run of it has started."""
    sound = vars(Monitor)["why_down"]

    def why_down(monitor):
        return None if monitor.state is MonitorState.STARTED else sound.__get__(monitor)

    patches.setattr(Monitor, "why_down", property(why_down))


def well_beyond_the_first_page(patches):
    """What is not among the newest executions counts as well."""

    async def newest(self, _look, where, limit):
        return (await self._store.list_executions(where, limit=limit)).items

    patches.setattr(Observer, "_newest_and_known", newest)


def delivered_without_a_key(patches):
    """Each delivery is a run of its own, whatever was delivered before."""
    keys = count()

    async def unkeyed(executions, project, channel, message, key, **options):
        return await send(executions, project, channel, message, f"{key}:{next(keys)}", **options)

    patches.setattr(delivery, "send", unkeyed)
