"""Repetition: after a lost reply, a caller may repeat the call without a second effect."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from tickwell.domain.change import delete, pause
from tickwell.domain.execution import OutcomeKind, Start, State
from tickwell.domain.job import Entry
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import Retention
from tickwell.domain.step import Step
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import Record
from tickwell.testing.contract.builders import T0, a_job, a_request, minute
from tickwell.testing.contract.scene import Scene, planner, report
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic

Call = Callable[[], Awaitable[object]]


async def _fire_due(scene: Scene) -> Call:
    await scene.job()
    return lambda: scene.store.fire_due(minute(1), 0, 10, planner(minute(1)))


async def _promote(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, minute(1)))
    return lambda: scene.store.promote(minute(1), 0, 10)


async def _claim(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0), a_request(job, T0))
    await scene.beat("w1")
    request = scene.request(T0, limit=1)
    return lambda: scene.store.claim(replace(request, repeated=True))


async def _finish(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand(), pause_after=3)
    await scene.run(a_request(job, T0), a_request(job, T0))
    claims = await scene.claim(T0)
    kinds = (OutcomeKind.FAILED, OutcomeKind.TIMED_OUT)
    reports = [
        report(claim, kind, T0 + 1, retry=kind is OutcomeKind.FAILED)
        for claim, kind in zip(claims, kinds, strict=True)
    ]
    return lambda: scene.store.finish(reports, T0 + 1)


async def _settle(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    ids = await scene.run(a_request(job, T0))
    return lambda: scene.store.settle(ids, {State.QUEUED}, State.CANCELLED, "x", T0)


async def _declare_lost(scene: Scene) -> Call:
    beat = (await scene.beat("w1")).beat
    return lambda: scene.store.declare_lost("w1", beat, T0)


async def _leave(scene: Scene) -> Call:
    await scene.beat("w1")
    return lambda: scene.beat("w1", leaving=True)


async def _add_jobs(scene: Scene) -> Call:
    job = a_job()
    return lambda: scene.store.add_jobs([Entry(job, first_cursor(job, T0))], T0)


async def _pause(scene: Scene) -> Call:
    job = await scene.job()
    await scene.run(a_request(job, T0))
    return lambda: scene.change(job, pause("ann", "x"), minute(1))


async def _delete(scene: Scene) -> Call:
    job = await scene.job()
    await scene.run(a_request(job, T0))
    return lambda: scene.change(job, delete(), minute(1))


async def _add_executions(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    runs = [a_request(job, T0), a_request(job, minute(1), key="k")]
    return lambda: scene.store.add_executions(runs, T0, 0)


async def _request_cancel(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
    await scene.claim(T0)
    return lambda: scene.store.request_cancel("default", ids, T0)


async def _revive(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    ids = await scene.run(a_request(job, T0))
    await scene.fail(await scene.claim(T0), T0, retry=False)
    return lambda: scene.store.revive("default", ids, minute(1))


async def _purge(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    ids = await scene.run(a_request(job, T0))
    await scene.fail(await scene.claim(T0), T0, retry=False)
    return lambda: scene.store.purge("default", ids, minute(1))


async def _record_starts(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0))
    claim = await scene.claim_one(T0)
    return lambda: scene.store.record_starts([Start(claim.id, claim.attempt, T0 + 1)])


async def _write_steps(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0))
    claim = await scene.claim_one(T0)
    done = Step(execution=claim.id, attempt=1, name="charge", value="r-1", at=T0)
    return lambda: scene.store.write_steps([done])


async def _answer_step(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0))
    claim = await scene.claim_one(T0)
    asked = Step(execution=claim.id, attempt=1, name="ask", value=None, at=T0, is_final=False)
    await scene.store.write_steps([asked])
    await scene.finish(claim, OutcomeKind.SNOOZED, T0, delay=1000, awaits=("ask",))
    return lambda: scene.store.answer_step("default", claim.id, "ask", "yes", T0 + 1)


async def _put_record(scene: Scene) -> Call:
    record = Record(kind="note", project="default", key="k", document={"n": 1})
    return lambda: scene.store.put_record(record, T0, 0)


async def _delete_record(scene: Scene) -> Call:
    record = Record(kind="note", project="default", key="k", document={"n": 1})
    await scene.store.put_record(record, T0)
    return lambda: scene.store.delete_record("note", "default", "k")


async def _prune(scene: Scene) -> Call:
    job = await scene.job(trigger=OnDemand(), retention=Retention(age="0s"))
    await scene.run(a_request(job, T0))
    await scene.succeed(await scene.claim(T0), T0)
    return lambda: scene.store.prune(minute(1), 10)


CALLS = [
    _fire_due,
    _promote,
    _claim,
    _finish,
    _settle,
    _declare_lost,
    _leave,
    _add_jobs,
    _pause,
    _delete,
    _add_executions,
    _request_cancel,
    _revive,
    _purge,
    _record_starts,
    _write_steps,
    _answer_step,
    _put_record,
    _delete_record,
    _prune,
]


class Repetition(Topic):
    """Every call that changes something; an edit says which version it expects instead."""

    @pytest.mark.parametrize("prepare", CALLS, ids=lambda prepare: prepare.__name__[1:])
    async def test_a_call_made_twice_has_the_effect_of_one(
        self, scene: Scene, other: Scene, prepare: Callable[[Scene], Awaitable[Call]]
    ) -> None:
        call = await prepare(scene)
        before = await snapshot(scene.store, minute(1))
        await call()
        once = await snapshot(scene.store, minute(1))
        assert once != before
        await call()
        assert await snapshot(other.store, minute(1)) == once
