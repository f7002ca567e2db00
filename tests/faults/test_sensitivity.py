"""Broken on purpose, and caught: what would let these pass would prove nothing about the rest."""

from dataclasses import replace

import pytest

from tests.faults.checker import check
from tests.processes.scenario import Scenario, history_of
from tests.processes.sweep import Cut
from tickwell.stores.memory import MemoryStore


class MovesWithoutRecording(MemoryStore):
    """The cursor moves on, and one job's fires are never recorded."""

    async def fire_due(self, now, horizon, limit, plan, **how):
        def forgetful(job, cursor):
            planned = plan(job, cursor)
            if job.name == "single":
                planned.executions = []
            return planned

        return await super().fire_due(now, horizon, limit, forgetful, **how)


class HandsOutTwice(MemoryStore):
    """One claim goes to two callers."""

    async def claim(self, request):
        claims = await super().claim(request)
        return claims + [replace(claim, id=claim.id) for claim in claims]


class ForgetsWhoAsked(MemoryStore):
    """A repeated claim is taken for a new one, so what the lost answer held is never found."""

    async def claim(self, request):
        return await super().claim(replace(request, repeated=False))


class FinishesWithoutReason(MemoryStore):
    """An attempt that failed leaves no trace."""

    async def get_execution(self, project, id):
        found = await super().get_execution(project, id)
        if found is not None:
            found.attempts = [one for one in found.attempts if one.outcome != "failed"]
        return found


class RunsAhead(MemoryStore):
    """What is due later is handed out as due now."""

    async def claim(self, request):
        claims = await super().claim(request)
        return [replace(claim, run_at=claim.run_at - 100) for claim in claims]


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (MovesWithoutRecording, "lost"),
        (HandsOutTwice, "doubled"),
        (ForgetsWhoAsked, "stuck"),
        (FinishesWithoutReason, "unexplained"),
        (RunsAhead, "early"),
    ],
)
async def test_a_broken_store_is_caught(tmp_path, broken, kind):
    found = set()
    # The call at which it shows differs: one answer is lost in each run, at another call.
    for nth in range(1, 40):
        store, calls = broken(), tmp_path / str(nth)
        await Scenario(store, calls, "victim", Cut("reset after", nth)).run()
        found |= {each.kind for each in check(await history_of(store, calls))}
    assert kind in found
