"""Settling: how what is not running ends, or is put aside."""

# ruff: noqa: S101 - a kit of tests asserts

from __future__ import annotations

from typing import Any

import pytest

from tickwell.domain.execution import State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.testing.contract.topic import Topic


class Settling(Topic):
    """`settle`."""

    @pytest.mark.parametrize("to", [State.CANCELLED, State.SKIPPED])
    async def test_it_ends_what_is_pending(self, scene: Scene, to: State) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        assert sorted(await scene.settle(ids, to, T0 + 5)) == sorted(ids)
        for id in ids:
            execution = await scene.execution(id)
            assert (execution.state, execution.reason) == (to, "because")
            assert execution.ended_at == T0 + 5
        assert await scene.claim(minute(2)) == []

    async def test_it_moves_only_what_is_in_the_states_given(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        moved = await scene.settle(ids, State.CANCELLED, T0, states={State.WAITING})
        assert moved == [ids[1]]
        assert (await scene.execution(ids[0])).state is State.QUEUED

    @pytest.mark.parametrize(
        "gate",
        [
            {"overlap": Overlap.QUEUE_ALL},
            {"overlap": Overlap.ALLOW, "concurrency": Concurrency("k", 1)},
        ],
    )
    async def test_one_that_is_queued_by_the_move_of_another_stays(
        self, scene: Scene, gate: dict[str, Any]
    ) -> None:
        job = await scene.job(trigger=OnDemand(), **gate)
        runs = [a_request(job, T0 + n, overlap=job.overlap) for n in range(2)]
        ids = await scene.run(*runs, now=T0 + 1)
        moved = await scene.settle(ids, State.CANCELLED, T0 + 1, states={State.QUEUED})
        assert moved == [ids[0]]
        assert (await scene.execution(ids[1])).state is State.QUEUED

    async def test_what_runs_or_has_ended_is_not_moved(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, T0 + 1), now=T0 + 1)
        claims = await scene.claim(T0 + 1)
        await scene.succeed(claims[0], T0 + 1)
        before = await snapshot(scene.store, T0 + 2)
        assert await scene.settle([*ids, "nobody"], State.CANCELLED, T0, states=set(State)) == []
        assert await snapshot(scene.store, T0 + 2) == before

    async def test_settling_again_does_nothing(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0))
        await scene.settle(ids, State.CANCELLED, T0)
        before = await snapshot(scene.store, T0 + 5)
        assert await scene.settle(ids, State.CANCELLED, T0 + 5) == []
        assert await snapshot(scene.store, T0 + 5) == before

    async def test_what_is_parked_keeps_its_reason_until_it_waits_again(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        assert await scene.settle([id], State.PARKED, T0) == [id]
        parked = await scene.execution(id)
        assert (parked.state, parked.reason, parked.ended_at) == (State.PARKED, "because", None)
        assert await scene.claim(T0) == []
        assert await scene.settle([id], State.PARKED, T0 + 1) == []
        assert await scene.settle([id], State.WAITING, T0 + 1) == [id]
        waiting = await scene.execution(id)
        assert (waiting.state, waiting.reason) == (State.WAITING, None)

    async def test_only_what_is_parked_is_told_to_wait(self, scene: Scene) -> None:
        job = await scene.job(trigger=OnDemand())
        ids = await scene.run(a_request(job, T0), a_request(job, minute(1)))
        assert await scene.settle(ids, State.WAITING, T0) == []
        assert await scene.states() == [State.QUEUED, State.WAITING]

    async def test_what_is_parked_keeps_its_place_in_its_jobs_gate(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.QUEUE_ALL)
        await scene.fire(minute(1))
        await scene.settle([(await scene.at(job, minute(1))).id], State.PARKED, minute(1))
        await scene.fire(minute(2))
        assert await scene.states(job) == [State.PARKED, State.BLOCKED]

    async def test_the_permit_passes_on(self, scene: Scene) -> None:
        job = await scene.job(overlap=Overlap.QUEUE_ALL)
        await scene.fire(minute(1))
        await scene.fire(minute(2))
        await scene.settle([(await scene.at(job, minute(1))).id], State.CANCELLED, minute(2))
        assert await scene.states(job) == [State.CANCELLED, State.QUEUED]
